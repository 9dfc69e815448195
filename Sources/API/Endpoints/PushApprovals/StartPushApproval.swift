import Accounts
import HTTP
import Pages
import Push

/// `POST /oauth/push/start` (accounts §2.4, §4.2): the person typed an address on the login page, and approves on a phone.
@Sendable func startPushApproval(_ call: Call, _ visitor: Visitor) throws -> Response {
    guard call.service.push != nil else { throw ErrorPage.Problem.notFound }
    let pending = try call.submittedRequest(of: visitor)
    let application: Application? =
        if case .authorization(let request) = pending.purpose { try call.application(of: request) } else { nil }
    let address = try call.form.value("email") ?? ""
    var started: StartedPushApproval?
    var response = try call.commit { transaction in
        let approval = try call.accounts.startPushApproval(
            for: address, in: pending.browser, leadingTo: application?.id, in: transaction)
        started = approval
        return .redirect(.seeOther, to: "\(pending.path("/oauth/push"))&id=\(approval.publicID)")
    }
    if let started {
        // Nobody has no phones: who asks again at once must not find the machine less busy because nobody has the address.
        let texts = call.language.texts
        response.afterwards = call.notifying(
            started.user,
            PushNotification(
                .signIn, started.publicID, title: texts.pushTitle, text: texts.pushText, expiresAt: started.expiresAt,
                at: call.accounts.settings.issuer))
    }
    return response
}
