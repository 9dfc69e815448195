import Database
package import MariaDB
import OpenSSL

/// Applies migrations to a database.
///
/// DDL commits implicitly, so a migration cannot be rolled back. Instead, its progress is recorded for each statement:
/// `statements_started` before it, `statements_done` after it, and in the statement's own transaction if it is not DDL.
/// An interrupted run continues after the last finished statement. If the interruption came between a statement and its
/// record, the statement runs again. Then the errors "already exists" and "does not exist" mean that it had been done,
/// because DDL statements are atomic since MariaDB 10.6.
package struct Migrator {
    package let migrations: [Migration]

    package init(directory: String) throws(MigrationError) { migrations = try Migration.load(directory: directory) }

    package init(_ migrations: [Migration]) { self.migrations = migrations }

    package func status(_ db: Connection) throws -> MigrationStatus {
        MigrationStatus(files: migrations, applied: try AppliedMigration.all(db))
    }

    /// Applies the pending migrations. Only one migrator runs at a time; a second one waits, and then finds nothing to
    /// do. `progress` gets a line before each migration and each statement. The connection's options must be
    /// `forMigrations`.
    package func up(_ db: Connection, progress: (String) -> Void = { _ in }) throws {
        guard db.options.isForMigrations else { throw MigrationError.impatientConnection }
        let isLocked = try db.first("SELECT GET_LOCK(CONCAT('migrate.', DATABASE()), 60)") { try $0.read(Bool?.self) }
        guard isLocked == true else { throw MigrationError.locked }
        defer { _ = try? db.first("SELECT RELEASE_LOCK(CONCAT('migrate.', DATABASE()))") { try $0.read(Bool?.self) } }
        try AppliedMigration.createTable(db)
        let status = try status(db)
        if let changed = status.changed.first { throw MigrationError.changed(fileName: changed.fileName) }
        // An older release goes on with a newer schema that fits, but its migrations cannot follow newer ones.
        if let newer = status.pending.isEmpty ? status.newerIncompatible : status.newer.first {
            throw MigrationError.newer(number: newer.number, name: newer.name)
        }
        for migration in status.pending {
            let record = status.applied.first { $0.number == migration.number }
            try apply(migration, record, db, progress)
        }
    }

    private func apply(
        _ migration: Migration, _ record: AppliedMigration?, _ db: Connection, _ progress: (String) -> Void
    ) throws {
        if let record {
            progress("\(migration.fileName): continuing after statement \(record.statementsDone)")
            try db.execute(
                "UPDATE schema_migrations SET name = ?, digest = ?, compatible_since = ? WHERE number = ?",
                migration.name, migration.digest, migration.compatibleSince, migration.number)
        } else {
            progress(migration.fileName)
            try db.execute(
                """
                INSERT INTO schema_migrations (number, name, digest, compatible_since, started_at, statements_started,
                    statements_done, done_digest) VALUES (?, ?, ?, ?, NOW(3), 0, 0, ?)
                """, migration.number, migration.name, migration.digest, migration.compatibleSince, Self.nothingDone)
        }
        let done = record?.statementsDone ?? 0
        for (index, statement) in migration.statements.enumerated().dropFirst(done) {
            progress("  " + (statement.split(separator: "\n").first.map(String.init) ?? ""))
            let mayBeDone = index == done && record?.statementsStarted == done + 1
            do {
                try persistently(progress) { () throws(MariaDBError) in
                    try apply(statement, index, of: migration, mayBeDone: mayBeDone, db)
                }
            } catch {
                throw MigrationError.statement(fileName: migration.fileName, number: index + 1, error)
            }
        }
        try db.execute("UPDATE schema_migrations SET finished_at = NOW(3) WHERE number = ?", migration.number)
    }

    private func apply(
        _ statement: String, _ index: Int, of migration: Migration, mayBeDone: Bool, _ db: Connection
    ) throws(MariaDBError) {
        let doneDigest = Self.digest(of: migration.statements[...index])
        try db.execute(
            "UPDATE schema_migrations SET statements_started = ? WHERE number = ?", index + 1, migration.number)
        try db.execute("START TRANSACTION")
        do {
            try db.query(statement)
        } catch let error where mayBeDone && Self.alreadyDone.contains(error.code) {
        } catch let error where !error.isConnectionLost {
            try db.execute("ROLLBACK")
            if !mayBeDone {
                try db.execute(
                    "UPDATE schema_migrations SET statements_started = ? WHERE number = ?", index, migration.number)
            }
            throw error
        }
        try db.execute(
            "UPDATE schema_migrations SET statements_done = ?, done_digest = ? WHERE number = ?", index + 1, doneDigest,
            migration.number)
        try db.execute("COMMIT")
    }

    static let nothingDone = [UInt8](repeating: 0, count: 32)

    /// The digest of the statements before `statements.endIndex`; comments between them do not count.
    static func digest(of statements: ArraySlice<String>) -> [UInt8] {
        statements.reduce(nothingDone) { sha256($0 + sha256($1.utf8)) }
    }

    /// The errors for a table, column, key, trigger or constraint that already exists, and for a table, key or trigger
    /// that no longer exists.
    private static let alreadyDone: Set<Int> = [1050, 1060, 1061, 1359, 1826, 1005, 1051, 1091, 1360]
}

extension Connection.Options {
    /// A copy with long time-outs for statements, because DDL on a large table takes hours, but a short one for locks:
    /// every request on the table queues behind an ALTER that waits, and must not wait as long as the servers' queue
    /// limit.
    package var forMigrations: Connection.Options {
        var options = self
        options.maxStatementTime = .seconds(24 * 3600)
        options.readTimeout = .seconds(25 * 3600)
        options.idleTransactionTimeout = .seconds(3600)
        options.lockWaitTimeout = .seconds(1)
        return options
    }

    var isForMigrations: Bool { maxStatementTime >= .seconds(3600) }
}
