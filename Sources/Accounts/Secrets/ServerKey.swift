import OpenSSL

/// The key that encrypts values that must be readable again. It may have one predecessor, so that it can be rotated.
///
/// A sealed value is `version (1) | key id (4) | nonce (12) | ciphertext | tag (16)`: AES-256-GCM with the row's
/// identity as associated data, so that a value cannot be opened for another row.
package struct ServerKey: Sendable {
    private typealias Key = (id: [UInt8], cipher: AES256GCM, macKey: [UInt8])

    private let current: Key
    private let previous: Key?

    /// Each key has 32 bytes.
    package init(current: [UInt8], previous: [UInt8]? = nil) {
        self.current = ServerKey.key(current)
        self.previous = previous.map(ServerKey.key)
    }

    /// Derives the key for MACs, so that sealing and MACs have different keys.
    private static func key(_ bytes: [UInt8]) -> Key {
        (id(of: bytes), AES256GCM(key: bytes), hmacSHA256(key: bytes, Array("mac key".utf8)))
    }

    func seal(_ plaintext: [UInt8], for row: [UInt8]) -> [UInt8] {
        [1] + current.id + current.cipher.seal(plaintext, associatedData: row)
    }

    /// - Throws: `OpenSSLError` if neither key sealed the value, if it was sealed for another row, or if it was
    ///   changed.
    func open(_ sealed: [UInt8], for row: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        let id = Array(sealed.dropFirst().prefix(4))
        let cipher = id == previous?.id ? previous?.cipher : nil
        return try (cipher ?? current.cipher).open(Array(sealed.dropFirst(5)), associatedData: row)
    }

    /// HMAC-SHA256 of a message.
    func mac(_ message: [UInt8]) -> [UInt8] { hmacSHA256(key: current.macKey, message) }

    /// Whether one of the keys made this MAC for the message.
    func isMAC(_ mac: [UInt8], of message: [UInt8]) -> Bool {
        [current, previous].contains { key in
            key.map { constantTimeEqual(mac, hmacSHA256(key: $0.macKey, message)) } ?? false
        }
    }

    /// The key ids, which are bytes 2 to 5 of each sealed value.
    var ids: (current: [UInt8], previous: [UInt8]?) { (current.id, previous?.id) }

    /// Identifies a key without revealing anything about it.
    private static func id(of key: [UInt8]) -> [UInt8] { Array(sha256(sha256(key) + Array("key id".utf8)).prefix(4)) }
}
