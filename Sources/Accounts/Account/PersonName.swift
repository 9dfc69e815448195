internal import Text

/// A name in two parts, as Apple sends it at the first sign-in. A name that has only one part is stored as the given
/// name.
package struct PersonName: Codable, Equatable, Sendable {
    package var givenName: String?
    package var familyName: String?

    package init(givenName: String?, familyName: String?) {
        self.givenName = givenName
        self.familyName = familyName
    }

    /// The whole name. If both parts are Han, Hangul or Kana: the family name, then the given name, without a space.
    /// Otherwise: the given name, a space, the family name (accounts §1.6). Nil if both parts are blank.
    package var display: String? {
        let given = trimmed(givenName.map(DisplayName.cleaned))
        let family = trimmed(familyName.map(DisplayName.cleaned))
        if given.isEmpty { return family.isEmpty ? nil : family }
        if family.isEmpty { return given }
        return isEastAsian(given) && isEastAsian(family) ? family + given : "\(given) \(family)"
    }

    /// Whether the name is short enough for an account.
    package var fits: Bool { (display?.unicodeScalars.count ?? 0) <= User.longestName }

    private func trimmed(_ part: String?) -> String {
        if part.isBlank { return "" }
        let part = (part ?? "").drop(while: \.isWhitespace)
        return String(part[..<(part.lastIndex { !$0.isWhitespace }.map(part.index(after:)) ?? part.startIndex)])
    }

    private func isEastAsian(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            PersonName.eastAsian.contains { $0.contains(scalar.value) }
        }
    }

    /// The Hangul, Kana and Han blocks (Unicode 15, Blocks.txt), with the marks that are used inside such words.
    private static let eastAsian: [ClosedRange<UInt32>] = [
        0x1100...0x11FF, 0x2E80...0x2FDF, 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3038...0x303C,
        0x3041...0x30FF, 0x3130...0x318F, 0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA960...0xA97F,
        0xAC00...0xD7FF, 0xF900...0xFAFF, 0xFF66...0xFF9F, 0x1AFF0...0x1B16F, 0x20000...0x323AF,
    ]
}
