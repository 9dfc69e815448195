package import Foundation

extension URL {
    /// As text to which a path can be added: without a final slash. It also is a server's name (OpenID Connect Core §2, `iss`).
    package var withoutFinalSlash: String {
        let text = absoluteString
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// Whether credentials can be sent there: to a host, by https; by http to this machine only.
    package var canCarryCredentials: Bool {
        guard let host, !host.isEmpty else { return false }
        return scheme == "https" || scheme == "http" && isLoopback
    }

    /// Whether the host is this machine.
    package var isLoopback: Bool {
        ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host?.lowercased())
    }
}

extension String {
    /// Every byte escaped but unreserved ones (RFC 3986 §2.3): one segment of a path, or a name or value of a query.
    package var percentEncoded: String {
        let unreserved = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
        return addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    }
}

/// Pairs as a query or a form.
package func formEncoded(_ pairs: [(String, String)]) -> String {
    pairs.map { "\($0.0.percentEncoded)=\($0.1.percentEncoded)" }.joined(separator: "&")
}
