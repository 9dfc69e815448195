import JSON
import MariaDB

extension Event {
    /// An anonymous account became an identified one in place: its subs stay.
    static func userPromoted(_ user: User.ID, knownAs sub: String, at application: Application.ID) -> Event {
        Event(
            application: application, kind: .userPromoted,
            data: ["sub": .string(sub), "canonical_sub": .string(String(user.rawValue))])
    }
}

extension AccountsTransaction {
    /// Tells every relying party that has a live grant of an account that it was promoted.
    ///
    /// - Parameter user: locked, so that no grant of theirs comes or goes.
    func emitPromotion(of user: User.ID) throws {
        let grants = try connection.all(
            "SELECT application_id, sub FROM grants WHERE user_id = ? AND revoked_at IS NULL ORDER BY id", user
        ) { row in (application: try row.read(Application.ID.self), sub: try row.read(String.self)) }
        for grant in grants { emit(.userPromoted(user, knownAs: grant.sub, at: grant.application)) }
    }
}
