import OpenSSL

/// The key that seals what must be shown again, and at most one predecessor, so that it can be rotated.
///
/// A sealed value is `version (1) | key id (4) | nonce (12) | ciphertext | tag (16)`: AES-256-GCM with the row's
/// identity as associated data, so that a value moved to another row does not open.
package struct ServerKey: Sendable {
    private typealias Key = (id: [UInt8], cipher: AES256GCM, macKey: [UInt8])

    private let current: Key
    private let previous: Key?

    /// - Parameters: 32 bytes each.
    package init(current: [UInt8], previous: [UInt8]? = nil) {
        self.current = ServerKey.key(current)
        self.previous = previous.map(ServerKey.key)
    }

    /// Each use has a key of its own.
    private static func key(_ bytes: [UInt8]) -> Key {
        (id(of: bytes), AES256GCM(key: bytes), hmacSHA256(key: bytes, Array("mac key".utf8)))
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

    /// HMAC-SHA256 of a message.
    func mac(_ message: [UInt8]) -> [UInt8] { hmacSHA256(key: current.macKey, message) }

    /// Whether either key made the MAC for the message.
    func isMAC(_ mac: [UInt8], of message: [UInt8]) -> Bool {
        [current, previous].contains { key in
            key.map { constantTimeEqual(mac, hmacSHA256(key: $0.macKey, message)) } ?? false
        }
    }

    /// What tells the values apart that a key sealed: bytes 2 to 5 of each.
    var ids: (current: [UInt8], previous: [UInt8]?) { (current.id, previous?.id) }

    /// Tells keys apart without telling anything about them.
    private static func id(of key: [UInt8]) -> [UInt8] { Array(sha256(sha256(key) + Array("key id".utf8)).prefix(4)) }
}
