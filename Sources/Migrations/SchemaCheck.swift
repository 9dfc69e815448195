package import MariaDB

/// Checks whether this binary can work with a database, without the files: at the start and for readiness.
package enum SchemaCheck {
    /// The newest migration that this binary knows. It needs all migrations up to this one. A test compares it with the
    /// files.
    package static let version = 41

    package enum Problem: Error, Equatable, Sendable {
        case neverMigrated
        case behind(Int)
        /// A migration that this binary needs is running, or was interrupted.
        case unfinished(Int)
        /// A newer release removed something that this binary still uses.
        case newerIncompatible(Int)
    }

    /// nil if the schema fits.
    package static func problem(_ db: Connection) throws -> Problem? {
        problem(applied: try AppliedMigration.all(db), version: version)
    }

    /// Lets no release run any more that does not know a migration, because rows begin to mean something that only later ones
    /// understand.
    package static func endCompatibility(before number: Int, _ db: Connection) throws {
        try db.execute(
            "UPDATE schema_migrations SET compatible_since = GREATEST(compatible_since, ?) WHERE number = ?", number,
            number)
    }

    static func problem(applied: [AppliedMigration], version: Int) -> Problem? {
        guard !applied.isEmpty else { return .neverMigrated }
        if let unfinished = applied.first(where: { $0.number <= version && !$0.isFinished }) {
            return .unfinished(unfinished.number)
        }
        let newest = applied.map(\.number).filter { $0 <= version }.max() ?? 0
        guard newest == version else { return .behind(newest) }
        if let newer = applied.first(where: { $0.number > version && $0.compatibleSince > version }) {
            return .newerIncompatible(newer.number)
        }
        return nil
    }
}

extension SchemaCheck.Problem: CustomStringConvertible {
    package var description: String {
        let needed = fourDigits(SchemaCheck.version)
        return switch self {
        case .neverMigrated: "the database has no schema: run `merganserctl migrate up`"
        case .behind(let number):
            "the schema is at \(fourDigits(number)), this release needs \(needed): run `merganserctl migrate up`"
        case .unfinished(let number):
            "migration \(fourDigits(number)) has not ended: wait for it, or run `merganserctl migrate up` to continue it"
        case .newerIncompatible(let number):
            "migration \(fourDigits(number)) of a newer release does not work with this one, which knows \(needed): "
                + "run the newer release"
        }
    }
}
