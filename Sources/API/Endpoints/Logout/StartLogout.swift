import Accounts
import Database
import HTTP
import Pages
import Text

/// `GET /oauth/logout` (OpenID Connect RP-Initiated Logout 1.0, accounts §3.7): signs the user out at once if the relying
/// party has proved that it means this session. Otherwise a page asks. Without a session there is nothing to ask.
@Sendable func startLogout(_ call: Call, _ visitor: Visitor) throws -> Response {
    let query = call.queryParameters.withoutEmptyValues
    let request: LogoutRequest
    if let handle = query["request"] {
        guard let found = call.accounts.logoutRequest(of: handle) else { throw ErrorPage.Problem.expired }
        request = found
    } else {
        // RFC 6749 §3.1. A form with repeated fields is refused as well.
        let names = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"]
        if names.contains(where: { query.all($0).count > 1 }) {
            throw ErrorPage.Problem.invalidRequest
        }
        request = try call.judge(
            LogoutParameters(
                idTokenHint: query["id_token_hint"], clientID: query.comparable("client_id"),
                postLogoutRedirectURI: query.comparable("post_logout_redirect_uri"), state: query.encoded("state")))
    }
    let next = request.location ?? signOutPath
    guard let session = visitor.session, let cookie = visitor.sessionCookie else {
        return .redirect(.seeOther, to: next)
    }
    guard request.means(session) else {
        return call.signOutPage(for: session, of: visitor, afterwards: request)
    }
    return try call.commit { transaction in
        try call.accounts.endWebSession(cookie, in: transaction)
        return .redirect(.seeOther, to: next, headers: [call.clearing(.session)])
    }
}

/// `POST /oauth/logout`: from another site, so the browser's cookies are missing. They come with the GET that follows.
@Sendable func receiveLogout(_ call: Call, _: Anyone) throws -> Response {
    let request = try call.judge(
        LogoutParameters(
            idTokenHint: call.form.value("id_token_hint"), clientID: call.form.value("client_id"),
            postLogoutRedirectURI: call.form.value("post_logout_redirect_uri"),
            state: call.form.value("state").map(PercentEncoding.encode)))
    return .redirect(.seeOther, to: "/oauth/logout?request=\(call.accounts.handle(of: request))")
}

extension Call {
    /// - Throws: the page for a state that is too long.
    fileprivate func judge(_ parameters: LogoutParameters) throws -> LogoutRequest {
        if let state = parameters.state, state.utf8.count > LogoutRequest.stateLimit {
            throw ErrorPage.Problem.invalidRequest
        }
        return try database.read { try accounts.checkLogout(parameters, $0) }
    }
}
