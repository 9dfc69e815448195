package import Time

/// A key that signs tokens, without key material.
package struct SigningKey: Equatable, Sendable {
    package enum State: String, Sendable {
        /// Published, so that clients know it before it signs.
        case next
        case active
        /// Its successor signs. Tokens that it signed can still be verified.
        case retired
        /// No longer published. The row stays, so that its id is never used again.
        case removed
    }

    /// `kid`: 16 lower-case hexadecimal digits.
    package var keyID: String
    package var isPublished: Bool
    package var publishedAt: Timestamp
    /// When it begins to sign; may be in the future.
    package var activatedAt: Timestamp?
    /// When its successor begins to sign.
    package var retiredAt: Timestamp?

    package func state(at now: Timestamp) -> State {
        if !isPublished { return .removed }
        guard let activatedAt, activatedAt <= now else { return .next }
        return retiredAt.map { $0 <= now } == true ? .retired : .active
    }

    /// When its public part is removed; nil before its successor is activated.
    package var publishedUntil: Timestamp? { retiredAt.map { $0 + Self.publicAfterlife } }

    /// How long clients may keep a key set: its `max-age`.
    package static let keySetLifetime = Duration.seconds(3600)
    /// The time within which every process notices a change (`SigningKeyring`).
    package static let propagation = Duration.seconds(30)
    /// How long a retired key stays published, and how long its private part is kept.
    static let publicAfterlife = Duration.seconds(90 * 86_400)
    static let privateAfterlife = Duration.seconds(86_400)

    /// The identity that the private part is sealed for.
    static func row(_ keyID: String) -> [UInt8] { Array("signing_key:\(keyID)".utf8) }
}

extension [SigningKey] {
    /// When every client that keeps the key set for its lifetime knows the key. The first key of all may sign at once.
    func isKnown(_ key: SigningKey) -> Timestamp {
        hasSigned ? key.publishedAt + SigningKey.keySetLifetime : key.publishedAt
    }

    var hasSigned: Bool { contains { $0.activatedAt != nil } }
}
