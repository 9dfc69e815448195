/// Compares the files with the database.
package struct MigrationStatus: Sendable {
    /// Every row of `schema_migrations`, in order.
    package let applied: [AppliedMigration]
    /// The migrations that `up` would apply or finish, in order.
    package let pending: [Migration]
    /// Files whose content was changed after they were applied.
    package let changed: [Migration]
    /// Migrations in the database for which there is no file.
    package let newer: [AppliedMigration]
    /// The first of them that removed something which programs with these files still use; nil if the schema fits.
    package let newerIncompatible: AppliedMigration?

    /// A migration that began and did not end: it is running, or was interrupted.
    package var interrupted: AppliedMigration? { applied.first { !$0.isFinished } }

    package var isCurrent: Bool { pending.isEmpty && changed.isEmpty && newerIncompatible == nil }

    init(files: [Migration], applied: [AppliedMigration]) {
        self.applied = applied
        let records = Dictionary(uniqueKeysWithValues: applied.map { ($0.number, $0) })
        pending = files.filter { records[$0.number]?.isFinished != true }
        changed = files.filter { file in
            guard let record = records[file.number] else { return false }
            if record.isFinished { return record.digest != file.digest }
            let done = file.statements.prefix(record.statementsDone)
            return done.count < record.statementsDone || record.doneDigest != Migrator.digest(of: done)
        }
        newer = applied.filter { row in !files.contains { $0.number == row.number } }
        let version = files.last?.number ?? 0
        newerIncompatible = newer.first { $0.compatibleSince > version }
    }
}
