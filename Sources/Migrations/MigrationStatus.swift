/// The files and the database side by side.
package struct MigrationStatus: Sendable {
    /// Every row of `schema_migrations`, in order.
    package let applied: [AppliedMigration]
    /// What `up` would apply or finish, in order.
    package let pending: [Migration]
    /// Files whose content differs from what was applied.
    package let changed: [Migration]
    /// In the database, but not among the files.
    package let newer: [AppliedMigration]

    /// A step that began and did not end: it is running, or was interrupted.
    package var interrupted: AppliedMigration? { applied.first { !$0.isFinished } }

    package var isCurrent: Bool { pending.isEmpty && changed.isEmpty && newer.isEmpty }

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
    }
}
