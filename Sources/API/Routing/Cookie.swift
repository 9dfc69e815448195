import Accounts
import HTTP

/// The server's cookies (accounts §2.4). Over https their names have the prefix by which browsers keep other hosts and
/// plain http from setting them.
enum Cookie: String, Sendable {
    /// Tells browsers apart: what waits for one cannot be used by another.
    case browser = "merganser_browser"
    /// The person signed in.
    case session = "merganser_session"
}

extension Call {
    private var isSecure: Bool { accounts.settings.issuer.utf8.starts(with: "https:".utf8) }

    private func name(of cookie: Cookie) -> String { (isSecure ? "__Host-" : "") + cookie.rawValue }

    /// The value that the browser sent.
    func value(of cookie: Cookie) -> String? { request.headers.cookie(name(of: cookie)) }

    /// Has the browser keep it until it is closed; how long it is good for is the server's to say.
    func setting(_ cookie: Cookie, _ value: String) -> Response.Field {
        Response.Field(
            "Set-Cookie",
            "\(name(of: cookie))=\(value); Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : ""))
    }

    func clearing(_ cookie: Cookie) -> Response.Field {
        Response.Field("Set-Cookie", setting(cookie, "").value + "; Max-Age=0")
    }
}
