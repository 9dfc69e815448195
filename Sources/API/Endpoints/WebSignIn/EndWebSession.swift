import Accounts
import HTTP
import Pages

/// `GET /session/logout`: asks whether to end the session, or says that there is none.
@Sendable func showSignOut(_ call: Call, _ visitor: Visitor) throws -> Response {
    guard let session = visitor.session else { return .page(SignedOutPage(), in: call.language) }
    let browser = visitor.browser ?? Browser()
    let token = PostForm.Field("token", call.accounts.formToken(for: signOutPath, in: browser))
    let page = SignOutPage(account: ShownUser(session.user), form: PostForm(action: signOutPath, hidden: [token]))
    var response = Response.page(page, in: call.language)
    if visitor.browser == nil { response.headers.append(call.setting(.browser, browser.cookie)) }
    return response
}

private let signOutPath = "/session/logout"

/// `POST /session/logout` (accounts §2.4): ends the web session. If there is a pending request, the login page follows,
/// so that another user can sign in.
@Sendable func endWebSession(_ call: Call, _ visitor: Visitor) throws -> Response {
    let next = try pathAfterSignOut(call, visitor)
    guard let cookie = visitor.sessionCookie else { return .redirect(.seeOther, to: next) }
    return try call.commit { transaction in
        try call.accounts.endWebSession(cookie, in: transaction)
        return .redirect(.seeOther, to: next, headers: [call.clearing(.session)])
    }
}

/// - Throws: an error page if the form is not from this server.
private func pathAfterSignOut(_ call: Call, _ visitor: Visitor) throws -> String {
    guard try call.form.value("request") != nil else {
        try call.checkForm(for: signOutPath, of: visitor)
        return signOutPath
    }
    do {
        return try call.submittedRequest(of: visitor).path("/oauth/login")
    } catch ErrorPage.Problem.expired {
        // The form is from this server. The user wants to sign out even if the pending request has expired.
        return signOutPath
    }
}
