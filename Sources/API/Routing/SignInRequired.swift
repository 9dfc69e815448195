import Accounts
import HTTP
import Pages
import Text
import Time

/// Thrown where somebody has to sign in, or to sign in again, before they see a page or send its form.
struct SignInRequired: Error {
    /// Where the browser comes back to: a path of this server, with its query.
    let path: String
    /// Nil if it has no cookie yet.
    let browser: Browser?
    /// A session that does not count, because its sign-in is not recent.
    var staleSession: WebSession.ID?
}

extension Call {
    /// - Parameter path: of the page that goes on after the new sign-in.
    /// - Throws: `SignInRequired` unless the sign-in was a short while ago (accounts §4.7, §4.8).
    func requireRecentSignIn(_ session: WebSession, browser: Browser?, comingBackTo path: String) throws {
        guard session.isRecent(at: accounts.clock.now) else {
            throw SignInRequired(path: path, browser: browser, staleSession: session.id)
        }
    }

    /// To the login page, and from there back to the page that was asked for.
    func response(to required: SignInRequired) throws -> Response {
        let browser = required.browser ?? Browser()
        return try commit { transaction in
            let pending = try transaction.store(
                .page(path: required.path), of: nil, in: browser, staleSession: required.staleSession)
            return .redirect(
                .seeOther, to: pending.path("/oauth/login"),
                headers: required.browser == nil ? [setting(.browser, browser.cookie)] : [])
        }
    }

    /// What was asked for, as a Location names it. A query that is long or has other characters than a browser writes is
    /// left out.
    var location: String {
        let isQuery =
            !request.query.isEmpty && request.query.utf8.count <= 1000
            && request.query.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isQuery ? "\(encodedPath)?\(request.query)" : encodedPath
    }

    /// The request's path, percent-encoded again.
    var encodedPath: String {
        request.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { PercentEncoding.encode(String(Substring($0))) }.joined(separator: "/")
    }
}
