import Accounts
import Database
import HTTP
import Logging
import Pages

/// Whoever sits at a browser: their cookies, and the web session that these open.
struct Visitor: Sendable {
    /// Nil if the browser has no cookie yet.
    let browser: Browser?
    /// The open web session; nil if nobody is signed in.
    let session: WebSession?
    /// The value of the session's cookie, even if it opens no session.
    let sessionCookie: String?
}

extension Credential<Visitor> {
    /// Any browser. The session that its cookie opens is looked up.
    static let visitor = Credential(.anyone) { call in
        let cookie = call.value(of: .session)
        return Visitor(
            browser: call.value(of: .browser).flatMap(Browser.init), session: try cookie.flatMap(call.session),
            sessionCookie: cookie)
    }
}

extension Call {
    fileprivate func session(_ cookie: String) throws -> WebSession? {
        guard let session = try database.find({ try accounts.webSession(cookie, $0) }) else { return nil }
        do {
            try database.autocommit { try accounts.noteUse(of: session, $0) }
        } catch {
            logger.debug("the session's last use could not be recorded", metadata: ["error": "\(error)"])
        }
        return session
    }

    /// Checks by its token that a form is from this server and was shown to this browser. Pages send no referrer, so
    /// browsers send forms with the origin `null` (Fetch §3.2). Any other origin must be this server's.
    ///
    /// - Parameter purpose: the one that the token was made for.
    /// - Throws: an error page if the check fails.
    func checkForm(for purpose: String, of visitor: Visitor) throws {
        let origin = request.headers.first("origin") ?? "null"
        guard origin == "null" || origin == accounts.settings.issuer, let browser = visitor.browser,
            let token = try form.value("token"), accounts.isFormToken(token, for: purpose, in: browser)
        else { throw ErrorPage.Problem.forged }
    }
}

extension Response {
    /// Redirects the browser.
    ///
    /// - Parameter location: a path on this server, or a URL that was checked.
    static func redirect(_ status: Status, to location: String, headers: [HeaderField] = []) -> Response {
        Response(status, headers: [HeaderField("Location", location)] + headers)
    }
}

extension ShownUser {
    init(_ user: User) { self.init(name: user.nickname ?? user.name, email: user.contactEmail) }
}
