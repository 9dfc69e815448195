package import Time

/// A key that signs tokens, without its parts.
package struct SigningKey: Equatable, Sendable {
    package enum State: String, Sendable {
        /// Published, so that clients get to know it before it signs.
        case next
        case active
        /// Its successor signs; what it signed can still be verified.
        case retired
        /// Published no longer; the row stays, so that its name is never used again.
        case removed
    }

    /// `kid`: 16 lower-case hexadecimal digits.
    package var keyID: String
    package var isPublished: Bool
    package var publishedAt: Timestamp
    /// It signs from then on, which may be in the future.
    package var activatedAt: Timestamp?
    /// When its successor begins to sign.
    package var retiredAt: Timestamp?

    package func state(at now: Timestamp) -> State {
        if !isPublished { return .removed }
        guard let activatedAt, activatedAt <= now else { return .next }
        return retiredAt.map { $0 <= now } == true ? .retired : .active
    }

    /// When its public part goes; nil before its successor is chosen.
    package var publishedUntil: Timestamp? { retiredAt.map { $0 + Self.publicAfterlife } }

    /// How long clients may keep a key set: its `max-age`.
    package static let keySetLifetime = Duration.seconds(3600)
    /// Within this time every process has noticed a change (`SigningKeyring`).
    package static let propagation = Duration.seconds(30)
    /// How long a retired key is published, and how long its private part is kept.
    static let publicAfterlife = Duration.seconds(90 * 86_400)
    static let privateAfterlife = Duration.seconds(86_400)

    /// What a private part is sealed for.
    static func row(_ keyID: String) -> [UInt8] { Array("signing_key:\(keyID)".utf8) }
}

extension [SigningKey] {
    /// When everybody who keeps the key set for its lifetime knows a key; the first of all need not be known.
    func isKnown(_ key: SigningKey) -> Timestamp {
        hasSigned ? key.publishedAt + SigningKey.keySetLifetime : key.publishedAt
    }

    var hasSigned: Bool { contains { $0.activatedAt != nil } }
}
