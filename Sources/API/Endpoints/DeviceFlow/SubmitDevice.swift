import Accounts
import HTTP
import Pages

/// `POST /oauth/device`: first the typed code, then the user's decision about the device.
@Sendable func submitDevice(_ call: Call, _ visitor: Visitor) throws -> Response {
    let pending = try call.submittedRequest(of: visitor)
    guard case .device = pending.purpose else { throw ErrorPage.Problem.invalidRequest }
    guard let session = visitor.session else { return .redirect(.seeOther, to: pending.path("/oauth/login")) }
    let typed = try call.form.value("user_code") ?? ""
    guard let decision = try call.form.value("decision") else {
        return try ask(about: typed, for: pending, session, call)
    }
    let choices = ["allow": DeviceDecision.approve, "deny": .deny]
    guard let decision = choices[decision], let code = UserCode(typed: typed) else {
        throw ErrorPage.Problem.invalidRequest
    }
    let confirmation = try call.form.value("confirmation") ?? ""
    guard call.accounts.isFormToken(confirmation, for: code.confirmed(by: session, for: pending), in: pending.browser)
    else {
        // Another tab may have signed in with another account.
        return try ask(about: typed, for: pending, session, call)
    }
    return try decide(decision, code, for: pending, session, call)
}

private func ask(
    about typed: String, for pending: PendingRequest, _ session: WebSession, _ call: Call
) throws -> Response {
    try call.commit { transaction in
        let found = try call.accounts.findDeviceRequest(
            userCode: typed, by: "web session \(session.id.rawValue)", in: transaction)
        switch found {
        case .failure(.rateLimited(let wait)):
            var response = call.devicePage(for: pending, userCode: typed, .tooManyTries)
            response.status = .tooManyRequests
            response.headers.append(HeaderField("Retry-After", String(wait.wholeSecondsRoundedUp)))
            return response
        case .failure: return call.devicePage(for: pending, userCode: typed, .unknownCode)
        case .success(let request):
            let code = request.userCode
            let page = ConsentPage(
                application: request.application.name, channel: .device(userCode: code.display),
                account: ShownUser(session.user), scopes: request.scopes.names,
                decision: call.form(
                    to: "/oauth/device", for: pending, .init("user_code", code.display),
                    .init(
                        "confirmation",
                        call.accounts.formToken(for: code.confirmed(by: session, for: pending), in: pending.browser))),
                useAnotherAccount: call.form(to: "/session/logout", for: pending))
            return .page(page, in: call.language)
        }
    }
}

private func decide(
    _ decision: DeviceDecision, _ code: UserCode, for pending: PendingRequest, _ session: WebSession,
    _ call: Call
) throws -> Response {
    try call.commit { transaction in
        switch try call.accounts.decideDevice(decision, code, by: session, in: transaction) {
        case .signedOut: .redirect(.seeOther, to: pending.path("/oauth/login"))
        case .unknownCode: call.devicePage(for: pending, userCode: code.display, .unknownCode)
        case .decided(let isAllowed): .page(DeviceDonePage(isAllowed: isAllowed), in: call.language)
        }
    }
}

extension UserCode {
    /// The purpose of the form token that confirms a code. Without that token a decision is not accepted, so every
    /// guessed code must pass the page that counts tries.
    fileprivate func confirmed(by session: WebSession, for pending: PendingRequest) -> String {
        "\(display) \(session.id.rawValue) \(pending.handle)"
    }
}
