import OpenSSL

/// The code that a user types to identify a waiting device: eight characters without vowels and look-alikes (RFC 8628
/// §6.1).
package struct UserCode: Equatable, Sendable {
    /// Upper case, without the dash.
    let characters: String

    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ23456789".utf8)
    private static let length = 8

    /// A random one.
    init() {
        // Bytes above the last multiple of the alphabet's size would favor its first characters.
        let limit = 256 - 256 % Self.alphabet.count
        var code: [UInt8] = []
        while code.count < Self.length {
            code += randomBytes(Self.length).filter { $0 < limit }.map { Self.alphabet[Int($0) % Self.alphabet.count] }
        }
        characters = String(decoding: code.prefix(Self.length), as: UTF8.self)
    }

    /// - Parameter text: in upper or lower case, with or without dashes and spaces.
    /// - Returns: nil if the text is not a user code.
    package init?(typed text: String) {
        let code = text.uppercased().utf8.filter { !"- ".utf8.contains($0) }
        guard code.count == Self.length, code.allSatisfy(Self.alphabet.contains) else { return nil }
        characters = String(decoding: code, as: UTF8.self)
    }

    /// In the form that people read: `BC2D-FG7H`.
    package var display: String { "\(characters.prefix(4))-\(characters.suffix(4))" }
}
