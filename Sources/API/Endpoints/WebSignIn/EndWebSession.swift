import Accounts
import HTTP
import Pages

/// `GET /session/logout`: asks whether to end the session, or says that there is none.
@Sendable func showSignOut(_ call: Call, _ visitor: Visitor) throws -> Response {
    guard let session = visitor.session else { return .page(SignedOutPage(), in: call.language) }
    return call.signOutPage(for: session, of: visitor)
}

/// Of the page that asks, of the one that says that it is done, and of the form between them.
let signOutPath = "/session/logout"

extension Call {
    /// Asks whether the session is to end.
    ///
    /// - Parameter request: of the relying party that wishes it; it says where the browser goes afterwards.
    func signOutPage(
        for session: WebSession, of visitor: Visitor, afterwards request: LogoutRequest? = nil
    ) -> Response {
        let browser = visitor.browser ?? Browser()
        let handle = request.map { accounts.handle(of: $0) }
        let token = PostForm.Field("token", accounts.formToken(for: handle ?? signOutPath, in: browser))
        let hidden = [token] + (handle.map { [PostForm.Field("logout", $0)] } ?? [])
        let page = SignOutPage(account: ShownUser(session.user), form: PostForm(action: signOutPath, hidden: hidden))
        var response = Response.page(
            page, in: language, formTarget: request?.redirectURI.map(FormTarget.init(redirectURI:)))
        if visitor.browser == nil { response.headers.append(setting(.browser, browser.cookie)) }
        return response
    }
}

/// `POST /session/logout` (accounts §2.4): ends the web session. With a request that waits it goes on to the login page,
/// for somebody else; with one for signing out, to where that leads.
@Sendable func endWebSession(_ call: Call, _ visitor: Visitor) throws -> Response {
    let (next, pending) = try afterSignOut(call, visitor)
    if visitor.sessionCookie == nil, pending == nil { return .redirect(.seeOther, to: next) }
    return try call.commit { transaction in
        if let cookie = visitor.sessionCookie { try call.accounts.endWebSession(cookie, in: transaction) }
        // Also if the session is gone already: in another tab, or because it is too old.
        if let pending { try transaction.wantAnotherAccount(for: pending, than: visitor.session) }
        return .redirect(
            .seeOther, to: next, headers: visitor.sessionCookie == nil ? [] : [call.clearing(.session)])
    }
}

/// Where the browser goes next, and the request that waits there.
///
/// - Throws: an error page if the form is not from this server.
private func afterSignOut(_ call: Call, _ visitor: Visitor) throws -> (path: String, pending: PendingRequest?) {
    if let handle = try call.form.value("logout") {
        try call.checkForm(for: handle, of: visitor)
        return (call.accounts.logoutRequest(of: handle)?.location ?? signOutPath, nil)
    }
    guard try call.form.value("request") != nil else {
        try call.checkForm(for: signOutPath, of: visitor)
        return (signOutPath, nil)
    }
    do {
        let pending = try call.submittedRequest(of: visitor)
        return (pending.path("/oauth/login"), pending)
    } catch ErrorPage.Problem.expired {
        // The form is from this server. The user wants to sign out even if the pending request has expired.
        return (signOutPath, nil)
    }
}
