package import Time

/// An account. An anonymous one belongs to a device, an identified one has identities.
package struct User: Equatable, Sendable {
    package typealias ID = Identifier<User>

    package enum Role: String, Sendable, CaseIterable {
        case user, developer, admin
    }

    package var id: ID
    package var anonymous: Bool
    package var previouslyAnonymous: Bool
    package var name: String?
    package var nickname: String?
    package var contactEmail: String?
    package var loginEmail: LoginEmail?
    package var role: Role
    package var createdAt: Timestamp
    package var lastActiveAt: Timestamp
    package var deletedAt: Timestamp?
    package var purgeAt: Timestamp?

    /// `accountDeleted` if the user is soft-deleted.
    var deletion: Failure? {
        graceEnd.map { .accountDeleted(purgeAt: $0) }
    }

    /// - Throws: `accountDeleted` if the user is soft-deleted.
    func checkNotDeleted() throws {
        if let deletion { throw deletion }
    }

    /// When a soft-deleted account may be purged, and until when it can be restored; nil if it is not deleted. Imported
    /// rows may have no `purge_at`.
    var graceEnd: Timestamp? { deletedAt.map { purgeAt ?? $0 + User.deletionGrace } }

    /// Whether activity should be recorded. It is recorded at most once an hour (accounts §0.6).
    func isDueForActivity(at now: Timestamp) -> Bool { lastActiveAt + .seconds(3600) <= now }

    /// The most characters that a name, a nickname or a contact address may have (accounts §1.7).
    static let longestName = 200

    /// How long a soft-deleted account is kept before it is purged (accounts §4.5).
    package static let deletionGrace = Duration.seconds(30 * 86_400)
}
