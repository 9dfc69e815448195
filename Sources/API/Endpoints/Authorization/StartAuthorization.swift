import Accounts
import Database
import ErrorCodes
import HTTP
import Pages

/// `GET /oauth/authorize` (accounts §2.2): a relying party sends a user here to sign in and to give consent.
@Sendable func startAuthorization(_ call: Call, _ visitor: Visitor) throws -> Response {
    let parameters = AuthorizationParameters(query: call.request.query)
    let application = try parameters["client_id"].flatMap { clientID in
        try call.database.read { try $0.client(clientID) }
    }
    switch (parameters.check(for: application), application) {
    case (.valid(let request, let dropped), let application?):
        call.noteFaults(parameters, of: application, dropped: dropped)
        return try begin(request, dropped, of: application, call, visitor)
    case (.refused(let error, let target), let application):
        if let application { call.noteFaults(parameters, of: application) }
        return .redirect(.found, to: target.location(error))
    case (.unusable(let reason), _): return unusable(reason, call)
    case (.valid, nil): return unusable(.unknownClient, call)
    }
}

private func begin(
    _ request: AuthorizationRequest, _ dropped: Scopes, of application: Application, _ call: Call, _ visitor: Visitor
) throws -> Response {
    let browser = visitor.browser ?? Browser()
    return try call.commit { transaction in
        let step = try call.accounts.begin(
            request, of: application, by: visitor.session, in: browser, transaction)
        try transaction.noteDropped(dropped, for: application)
        var response = call.response(to: step)
        switch step {
        case .signIn where visitor.browser == nil, .consent where visitor.browser == nil:
            response.headers.append(call.setting(.browser, browser.cookie))
        case .back, .signIn, .consent: break
        }
        return response
    }
}

/// An unregistered address must not get a redirect, so the user sees an error page.
private func unusable(_ reason: UnusableAuthorization, _ call: Call) -> Response {
    let problem: ErrorPage.Problem =
        switch reason {
        case .unknownClient: .unknownApplication
        case .invalidRedirectURI: .unknownRedirect
        }
    return call.refusal(problem, diagnosis: "/diagnose?" + call.request.query)
}
