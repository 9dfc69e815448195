import Accounts
import HTTP

/// `GET /session/logout`: asks before the session ends, or says that there is none.
@Sendable func showSignOut(_ call: Call, _ visitor: Visitor) throws -> Response {
    guard let session = visitor.session else { return .page(SignedOutPage(), in: call.language) }
    let page = SignOutPage(
        account: Account(session.user), form: PostForm(action: "/session/logout", hidden: []))
    return .page(page, in: call.language)
}

/// `POST /session/logout` (accounts §2.4): ends the web session. With a request that waits it goes on to the login page,
/// for somebody else.
///
/// Without one there is no token: browsers do not send the cookie along when another site posts here.
@Sendable func endWebSession(_ call: Call, _ visitor: Visitor) throws -> Response {
    try call.checkOrigin()
    let next = try pathAfterSignOut(call, visitor)
    return try call.commit { transaction in
        if let cookie = visitor.sessionCookie { try call.accounts.endWebSession(cookie, in: transaction) }
        return .redirect(.seeOther, to: next, headers: [call.clearing(.session)])
    }
}

private func pathAfterSignOut(_ call: Call, _ visitor: Visitor) throws -> String {
    guard try call.form.value("request") != nil else { return "/session/logout" }
    do {
        return try call.submittedRequest(of: visitor).path("/oauth/login")
    } catch ErrorPage.Problem.expired {
        // The form is the page's own: whoever waited too long wants to be signed out all the same.
        return "/session/logout"
    }
}
