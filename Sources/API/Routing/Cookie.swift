import Accounts
import HTTP

/// The server's cookies (accounts §2.4). Over https their names have a prefix, by which browsers refuse to let other
/// hosts or plain http set them.
enum Cookie: String, Sendable {
    /// Identifies the browser, so that no other browser can use its pending requests.
    case browser = "merganser_browser"
    /// Opens the web session.
    case session = "merganser_session"
}

extension Call {
    private var isSecure: Bool { accounts.settings.issuer.utf8.starts(with: "https:".utf8) }

    private func name(of cookie: Cookie) -> String { (isSecure ? "__Host-" : "") + cookie.rawValue }

    /// The value that the browser sent.
    func value(of cookie: Cookie) -> String? { request.headers.cookie(name(of: cookie)) }

    /// Sets a cookie that the browser keeps until it is closed. The server decides how long the value is valid.
    func setting(_ cookie: Cookie, _ value: String) -> HeaderField {
        HeaderField(
            "Set-Cookie",
            "\(name(of: cookie))=\(value); Path=/; HttpOnly; SameSite=Lax" + (isSecure ? "; Secure" : ""))
    }

    func clearing(_ cookie: Cookie) -> HeaderField {
        HeaderField("Set-Cookie", setting(cookie, "").value + "; Max-Age=0")
    }
}
