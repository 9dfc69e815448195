/// A URL in its parts as they are written (RFC 3986 §3). Nothing is decoded, and nothing judged.
package struct WrittenURL {
    package let scheme: Substring
    /// User information, host and port: what follows `//`. Nil without these two slashes.
    package let authority: Substring?
    /// Path, query and fragment.
    package let rest: Substring

    /// Nil without a colon.
    package init?(_ text: String) {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        scheme = text[..<colon]
        let slashes = text.utf8.index(after: colon)
        guard text.utf8[slashes...].starts(with: "//".utf8) else {
            authority = nil
            rest = text[slashes...]
            return
        }
        let start = text.utf8.index(slashes, offsetBy: 2)
        let end = text.utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
        authority = text[start..<end]
        rest = text[end...]
    }
}
