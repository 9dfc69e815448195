import IdentityTokens

/// Rules for e-mail addresses.
package enum EmailAddress {
    /// The address, or nil for one in a synthetic domain: any domain ending in `.internal` is treated as absent
    /// (accounts §0.6); imported rows may hold such. So is one that is longer than an address can be.
    package static func present(_ address: String?) -> String? {
        guard let address, (1...longest).contains(address.utf8.count), !isSynthetic(address) else { return nil }
        return address
    }

    /// Bytes in the longest address that can be mailed (RFC 5321 §4.5.3.1.3, without the angle brackets).
    private static let longest = 254

    static func isSynthetic(_ address: String) -> Bool {
        domain(of: address).map { $0 == "internal" || $0.hasSuffix(".internal") } ?? false
    }

    /// The lower-cased part behind the last `@`, without a final dot.
    static func domain(of address: String) -> String? {
        guard let at = address.lastIndex(of: "@") else { return nil }
        let domain = address[address.index(after: at)...].lowercased()
        return domain.hasSuffix(".") ? String(domain.dropLast()) : domain
    }

    /// Whether a person may type this as an address: a mailbox of RFC 5321 §4.1.2 without quoting or literals, a domain
    /// with a dot, internationalised names included (RFC 6531).
    static func isAcceptable(_ address: String) -> Bool {
        let parts = address.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, present(address) != nil else { return false }
        let (local, labels) = (parts[0], parts[1].split(separator: ".", omittingEmptySubsequences: false))
        guard (1...64).contains(local.utf8.count), parts[1].utf8.count <= 255, labels.count >= 2 else { return false }
        let localIsFine =
            !local.hasPrefix(".") && !local.hasSuffix(".") && !local.contains("..")
            && local.unicodeScalars.allSatisfy { isAtom($0) || $0 == "." }
        let domainIsFine = labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                && label.unicodeScalars.allSatisfy { isLetterOrDigit($0) || $0 == "-" }
        }
        return localIsFine && domainIsFine
    }

    private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || (!scalar.isASCII && scalar.properties.generalCategory == .nonspacingMark)
    }

    private static func isAtom(_ scalar: Unicode.Scalar) -> Bool {
        isLetterOrDigit(scalar) || "!#$%&'*+-/=?^_`{|}~".unicodeScalars.contains(scalar)
    }

    /// Whether the provider's word on this address is the last word (accounts §1.6).
    static func isAuthoritative(_ token: IdentityToken, for address: String) -> Bool {
        guard let domain = domain(of: address) else { return false }
        switch token.provider {
        case .google:
            return ["gmail.com", "googlemail.com"].contains(domain) || token.hostedDomain?.lowercased() == domain
        case .apple:
            return ["privaterelay.appleid.com", "icloud.com", "me.com", "mac.com"].contains(domain)
        }
    }
}
