import Accounts
import Database
import HTTP
import Pages

/// `POST /oauth/qr/start` (accounts §4.2): shows a code, which the person scans with the app.
@Sendable func startCodeApproval(_ call: Call, _ visitor: Visitor) throws -> Response {
    guard call.service.offersCodes else { throw ErrorPage.Problem.notFound }
    let pending = try call.submittedRequest(of: visitor)
    let application: Application? =
        if case .authorization(let request) = pending.purpose { try call.application(of: request) } else { nil }
    return try call.commit { transaction in
        let approval = try call.accounts.startCodeApproval(
            in: pending.browser, leadingTo: application?.id, in: transaction)
        return .redirect(.seeOther, to: "\(pending.path("/oauth/push"))&id=\(approval.publicID)")
    }
}

/// `GET /api/v1/oauth/qr/{id}` (accounts §4.2): what a code stands for.
@Sendable func showCodeApproval(_ call: Call, _ caller: Caller) throws -> Response {
    let approval = try call.database.read { try call.accounts.codeApproval(call.arguments[0], for: caller, $0) }
    return .json(.ok, PushApprovalReply(approval))
}

/// `POST /api/v1/oauth/qr/{id}/scan` (accounts §4.2): the first who scans it decides.
@Sendable func scanCodeApproval(_ call: Call, _ caller: Caller) throws -> Response {
    try call.commit { transaction in
        .json(
            .ok,
            PushApprovalReply(try call.accounts.scanCodeApproval(call.arguments[0], by: caller, in: transaction)))
    }
}
