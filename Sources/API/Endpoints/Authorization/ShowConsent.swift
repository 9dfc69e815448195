import Accounts
import HTTP
import Pages

/// `GET /oauth/consent` (accounts §2.4): continues a request after the sign-in, and asks for consent if needed.
@Sendable func showConsent(_ call: Call, _ visitor: Visitor) throws -> Response {
    let pending = try call.pendingRequest(call.queryParameters["request"], of: visitor)
    return try proceed(with: pending, isApproved: false, call, visitor)
}

/// `POST /oauth/consent`: the user's decision, or the wish to continue with the current account.
@Sendable func decideConsent(_ call: Call, _ visitor: Visitor) throws -> Response {
    let pending = try call.submittedRequest(of: visitor)
    switch (try call.form.value("decision"), pending.purpose) {
    case ("continue", _): return try proceed(with: pending, isApproved: false, call, visitor)
    case ("deny", .authorization(let request)):
        _ = try call.application(of: request)
        return .redirect(.found, to: request.redirect(.denied))
    case ("allow", .authorization):
        // Another tab may have signed in with another account. The user who was asked must be the one who allows it.
        let isAsked = try call.form.value("account") == visitor.session.map { String($0.user.id.rawValue) }
        return try proceed(with: pending, isApproved: isAsked, call, visitor)
    default: throw ErrorPage.Problem.invalidRequest
    }
}

private func proceed(
    with pending: PendingRequest, isApproved: Bool, _ call: Call, _ visitor: Visitor
) throws -> Response {
    guard case .authorization(let request) = pending.purpose else {
        return .redirect(.seeOther, to: pending.nextPath)
    }
    let application = try call.application(of: request)
    return try call.commit { transaction in
        let step = try call.accounts.proceed(
            with: pending, request, of: application, by: visitor.session, isApproved: isApproved, transaction)
        guard case .consent = step, let session = visitor.session else {
            return call.response(to: step)
        }
        let target = FormTarget(redirectURI: request.redirectURI)
        let page = ConsentPage(
            application: application.name, channel: .redirect(target), account: ShownUser(session.user),
            scopes: request.scopes.names,
            decision: call.form(
                to: "/oauth/consent", for: pending, .init("account", String(session.user.id.rawValue))),
            useAnotherAccount: call.form(to: "/session/logout", for: pending))
        return .page(page, in: call.language, formTarget: target)
    }
}
