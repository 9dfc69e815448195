import OpenSSL

/// The key that seals what must be shown again, and at most one predecessor, so that it can be rotated.
///
/// A sealed value is `version (1) | key id (4) | nonce (12) | ciphertext | tag (16)`: AES-256-GCM with the row's
/// identity as associated data, so that a value moved to another row does not open.
package struct ServerKey: Sendable {
    private let current: (id: [UInt8], cipher: AES256GCM)
    private let previous: (id: [UInt8], cipher: AES256GCM)?

    /// - Parameters: 32 bytes each.
    package init(current: [UInt8], previous: [UInt8]? = nil) {
        self.current = (ServerKey.id(of: current), AES256GCM(key: current))
        self.previous = previous.map { (ServerKey.id(of: $0), AES256GCM(key: $0)) }
    }

    func seal(_ plaintext: [UInt8], for row: [UInt8]) -> [UInt8] {
        [1] + current.id + current.cipher.seal(plaintext, associatedData: row)
    }

    /// - Throws: `OpenSSLError` when neither key made the value, or it was made for another row, or changed.
    func open(_ sealed: [UInt8], for row: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let id = Array(sealed.dropFirst().prefix(4))
        let cipher = id == previous?.id ? previous?.cipher : nil
        return try (cipher ?? current.cipher).open(Array(sealed.dropFirst(5)), associatedData: row)
    }

    /// Tells keys apart without telling anything about them.
    private static func id(of key: [UInt8]) -> [UInt8] { Array(sha256(sha256(key) + Array("key id".utf8)).prefix(4)) }
}
