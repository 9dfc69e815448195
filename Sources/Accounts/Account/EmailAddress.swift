import IdentityTokens
import Text

/// Rules for e-mail addresses.
package enum EmailAddress {
    /// The address; nil if it is synthetic or too long. An address is synthetic if its domain ends in `.internal`
    /// (accounts §0.6); imported rows may have such addresses.
    package static func present(_ address: String?) -> String? {
        guard let address, (1...longest).contains(address.utf8.count), !isSynthetic(address) else { return nil }
        return address
    }

    /// The most bytes that an address can have (RFC 5321 §4.5.3.1.3, without the angle brackets).
    private static let longest = 254

    static func isSynthetic(_ address: String) -> Bool {
        // Every claim with an address asks, so nothing is allocated.
        let bytes = address.utf8Span.span
        var end = bytes.count
        // As in `FoldedAddress.domain`.
        if end > 0, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
        var start = end
        while start > 0, bytes[start - 1] != UInt8(ascii: "."), bytes[start - 1] != UInt8(ascii: "@") { start -= 1 }
        return bytes.firstIndex(of: UInt8(ascii: "@")) < start && bytes.extracting(start..<end).isCaseless("internal")
    }

    /// Whether a user may enter this as an address. It must be a mailbox of RFC 5321 §4.1.2 without quoting or
    /// literals, with a dot in the domain; internationalized names are allowed (RFC 6531).
    static func isAcceptable(_ address: String) -> Bool {
        let parts = address.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        guard parts.count == 2, present(address) != nil else { return false }
        let (local, domain) = (parts[0], parts[1])
        let labels = domain.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard (1...64).contains(local.count), domain.count <= 255, labels.count >= 2 else { return false }
        let atoms = local.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return atoms.allSatisfy { isWord($0, of: isAtom) }
            && labels.allSatisfy { label in
                label.count <= 63 && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
                    && isWord(label) { isLetterOrDigit($0) || $0 == "-" }
            }
    }

    /// Whether a part is not empty, has only these characters, and does not begin with a combining mark (RFC 5891
    /// §4.2.3.2).
    private static func isWord(_ part: Substring.UTF8View, of isMember: (Unicode.Scalar) -> Bool) -> Bool {
        let scalars = Substring(part).unicodeScalars
        return scalars.first.map { $0.properties.generalCategory != .nonspacingMark } == true
            && scalars.allSatisfy(isMember)
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || (!scalar.isASCII && scalar.properties.generalCategory == .nonspacingMark)
    }

    private static func isAtom(_ scalar: Unicode.Scalar) -> Bool {
        isLetterOrDigit(scalar) || "!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
    }

    /// Whether the provider is authoritative for this address (accounts §1.6).
    static func isAuthoritative(_ token: IdentityToken, for address: String) -> Bool {
        guard let domain = FoldedAddress(address).domain else { return false }
        switch token.provider {
        case .google:
            return domain == FoldedAddress("gmail.com") || domain == FoldedAddress("googlemail.com")
                || token.hostedDomain.map(FoldedAddress.init(_:)) == domain
        case .apple:
            return ["privaterelay.appleid.com", "icloud.com", "me.com", "mac.com"].map(FoldedAddress.init(_:))
                .contains(domain)
        }
    }
}
