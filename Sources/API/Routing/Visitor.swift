import Accounts
import HTTP
import Pages

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
            logger.debug("the session's last use could not be recorded", metadata: ["error": "\(error)"])
        }
        return session
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
}

extension Response {
    /// Sends the browser on.
    ///
    /// - Parameter location: on this server a path; else one that was checked.
    static func redirect(_ status: Status, to location: String, headers: [Field] = []) -> Response {
        Response(status, headers: [Field("Location", location)] + headers)
    }
}

extension ShownUser {
    init(_ user: User) { self.init(name: user.nickname ?? user.name, email: user.contactEmail) }
}
