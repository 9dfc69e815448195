import Accounts
import Database
import ErrorCodes
import HTTP
import Pages

/// `GET /oauth/authorize` (accounts §2.2): a relying party sends a user here to sign in and to give consent.
@Sendable func startAuthorization(_ call: Call, _ visitor: Visitor) throws -> Response {
    let parameters = AuthorizationParameters(query: call.request.query)
    let application = try call.client(of: parameters)
    switch (parameters.check(for: application), application) {
    case (.valid(let request, let dropped), let application?):
        call.noteFaults(parameters, of: application, dropped: dropped)
        return try begin(call.hinted(request, by: parameters), dropped, of: application, call, visitor)
    case (.refused(let error, let target), let application):
        if let application { call.noteFaults(parameters, of: application) }
        return .redirect(.found, to: target.location(error))
    case (.unusable(let reason), _): return unusable(reason, call.request.query, call)
    case (.valid, nil): return unusable(.unknownClient, call.request.query, call)
    }
}

/// `POST /oauth/authorize` (OpenID Connect Core §3.1.2.1): from another site, so the browser's cookies are missing. They come
/// with the GET that follows.
@Sendable func receiveAuthorization(_ call: Call, _: Anyone) throws -> Response {
    let query = call.form.query
    guard query.utf8.count <= formLimit else { throw ErrorPage.Problem.invalidRequest }
    let parameters = AuthorizationParameters(query: query)
    if case .unusable(let reason) = parameters.check(for: try call.client(of: parameters)) {
        return unusable(reason, query, call)
    }
    return .redirect(.seeOther, to: "/oauth/authorize?\(query)")
}

/// In bytes, as a query. nginx takes request lines of 16 KiB.
private let formLimit = 16_000

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
private func unusable(_ reason: UnusableAuthorization, _ query: String, _ call: Call) -> Response {
    let problem: ErrorPage.Problem =
        switch reason {
        case .unknownClient: .unknownApplication
        case .invalidRedirectURI: .unknownRedirect
        }
    return call.refusal(problem, diagnosis: "/diagnose?" + query)
}
