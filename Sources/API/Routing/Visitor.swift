import Accounts
import HTTP

/// Whoever is at a browser.
struct Visitor: Sendable {
    /// nil: one that has no cookie yet.
    let browser: Browser?
    /// The person signed in.
    let session: WebSession?
    /// What the session's cookie says, whether it opens one or not.
    let sessionCookie: String?
}

extension Credential<Visitor> {
    /// Anybody at a browser; what cookies open is looked up.
    static let visitor = Credential { call in
        let cookie = call.value(of: .session)
        return Visitor(
            browser: call.value(of: .browser).flatMap(Browser.init), session: try cookie.flatMap(call.session),
            sessionCookie: cookie)
    }
}

extension Call {
    fileprivate func session(_ cookie: String) throws -> WebSession? {
        guard let session = try database.read({ try accounts.webSession(cookie, $0) }) else { return nil }
        do {
            try database.read { try accounts.noteUse(of: session, $0) }
        } catch {
            logger.debug("use of the session not noted", metadata: ["error": "\(error)"])
        }
        return session
    }

    /// The request that waits in the browser under a handle.
    ///
    /// - Throws: the page that says why there is none.
    func pendingRequest(_ handle: String?, of visitor: Visitor) throws -> PendingRequest {
        guard let browser = visitor.browser else { throw ErrorPage.Problem.otherBrowser }
        let pending = try handle.flatMap { handle in
            try database.read { try accounts.pendingRequest(handle, in: browser, $0) }
        }
        guard let pending else { throw ErrorPage.Problem.expired }
        return pending
    }

    /// The request whose form was sent, by this browser and from no other site.
    ///
    /// - Throws: the page that says why it is refused.
    func submittedRequest(of visitor: Visitor) throws -> PendingRequest {
        guard let handle = try form.value("request") else { throw ErrorPage.Problem.forged }
        try checkForm(for: handle, of: visitor)
        return try pendingRequest(handle, of: visitor)
    }

    /// Whether a form is one of ours that this browser was shown: its token says so. Pages tell no referrer, so browsers
    /// send their forms with the origin `null` (Fetch §3.2); any other must be ours.
    ///
    /// - Parameter purpose: what the token was made for.
    /// - Throws: the page that says that it is not.
    func checkForm(for purpose: String, of visitor: Visitor) throws {
        let origin = request.headers.first("origin") ?? "null"
        guard origin == "null" || origin == accounts.settings.issuer, let browser = visitor.browser,
            let token = try form.value("token"), accounts.isFormToken(token, for: purpose, in: browser)
        else { throw ErrorPage.Problem.forged }
    }

    /// A form that only the browser can send in which the request waits.
    func form(to action: String, for pending: PendingRequest, _ more: PostForm.Field...) -> PostForm {
        PostForm(
            action: action,
            hidden: [
                PostForm.Field("request", pending.handle),
                PostForm.Field("token", accounts.formToken(for: pending.handle, in: pending.browser)),
            ] + more)
    }
}

extension Response {
    /// Sends the browser on.
    ///
    /// - Parameter location: on this server a path; else one that was checked.
    static func redirect(_ status: Status, to location: String, headers: [Field] = []) -> Response {
        Response(status, headers: [Field("Location", location)] + headers)
    }
}
