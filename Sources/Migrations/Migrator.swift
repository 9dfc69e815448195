import Database
package import MariaDB
import OpenSSL
import Time

/// Applies migrations to a database.
///
/// DDL commits implicitly, so a migration cannot be rolled back. Instead, its progress is recorded for each statement:
/// `statements_started` before it, `statements_done` after it, and in the statement's own transaction if it is not DDL.
/// An interrupted run continues after the last finished statement. If the interruption came between a statement and its
/// record, the statement runs again. Then the errors "already exists" and "does not exist" mean that it had been done,
/// because DDL statements are atomic since MariaDB 10.6.
///
/// On a cluster GET_LOCK ends at its node. There the row of the migration is the lock: whoever has written `started_at` last
/// goes on, and any other migrator ends where it looks at the row next, before the next statement or with it.
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
        try persistently(progress) { () throws(MariaDBError) in try db.catchUp() }
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
        // Never that of an earlier run.
        let start = max(Clock.system.now, record.map { $0.startedAt + .milliseconds(1) } ?? Timestamp(seconds: 0))
        if let record {
            progress("\(migration.fileName): continuing after statement \(record.statementsDone)")
            try requireRow(
                db.execute(
                    """
                    UPDATE schema_migrations SET name = ?, digest = ?, compatible_since = ?, started_at = ?
                    WHERE number = ? AND started_at = ?
                    """, migration.name, migration.digest, migration.compatibleSince, start, migration.number,
                    record.startedAt))
        } else {
            progress(migration.fileName)
            try requireRow(
                db.execute(
                    """
                    INSERT INTO schema_migrations (number, name, digest, compatible_since, started_at,
                        statements_started, statements_done, done_digest) VALUES (?, ?, ?, ?, ?, 0, 0, ?)
                    ON DUPLICATE KEY UPDATE number = VALUES (number)
                    """, migration.number, migration.name, migration.digest, migration.compatibleSince, start,
                    Self.nothingDone))
        }
        let done = record?.statementsDone ?? 0
        for (index, statement) in migration.statements.enumerated().dropFirst(done) {
            progress("  " + (statement.split(separator: "\n").first.map(String.init) ?? ""))
            var mayBeDone = index == done && record?.statementsStarted == done + 1
            do {
                try persistently(progress) {
                    try apply(statement, index, of: migration, since: start, mayBeDone: &mayBeDone, db)
                }
            } catch let error as MariaDBError {
                throw MigrationError.statement(fileName: migration.fileName, number: index + 1, error)
            }
        }
        try requireRow(
            db.execute(
                "UPDATE schema_migrations SET finished_at = NOW(3) WHERE number = ? AND started_at = ?",
                migration.number, start))
    }

    /// - Parameter outcome: of a change of the migration's row.
    /// - Throws: `locked` if another migrator has taken it over.
    private func requireRow(_ outcome: Outcome) throws(MigrationError) {
        guard outcome.affectedRows == 1 else { throw .locked }
    }

    /// - Parameter mayBeDone: whether the statement is recorded as started, and it is unknown whether it took effect.
    private func apply(
        _ statement: String, _ index: Int, of migration: Migration, since start: Timestamp, mayBeDone: inout Bool,
        _ db: Connection
    ) throws {
        let doneDigest = Self.digest(of: migration.statements[...index])
        let isRepeated = mayBeDone
        if !isRepeated { try requireRow(note(started: index + 1, migration, start, db)) }
        mayBeDone = true
        try db.execute("START TRANSACTION")
        do {
            try run(statement, db)
        } catch {
            guard isRepeated, Self.alreadyDone.contains(error.code) else {
                if error.isConnectionLost { throw error }
                try db.execute("ROLLBACK")
                if !isRepeated {
                    _ = try note(started: index, migration, start, db)
                    mayBeDone = false
                }
                throw error
            }
        }
        let noted = try db.execute(
            """
            UPDATE schema_migrations SET statements_done = ?, done_digest = ? WHERE number = ? AND started_at = ?
            """, index + 1, doneDigest, migration.number, start)
        try db.query(noted.affectedRows == 1 ? "COMMIT" : "ROLLBACK")
        try requireRow(noted)
    }

    /// Without more, a statement that the server prepares while it makes a trigger may fail when it is executed
    /// (`MariaDBError.isUnforeseenTrigger`). So nobody uses the table until a new definition of it has made the server prepare
    /// every statement anew. On a cluster LOCK TABLES does not stop other nodes; there the servers of this release repeat what
    /// fails.
    private func run(_ statement: String, _ db: Connection) throws(MariaDBError) {
        guard !db.isClusterNode, let table = Self.tableOfTrigger(statement) else {
            try db.query(statement)
            return
        }
        // If this process stands still between two statements, the server ends the session, and with it the lock.
        try db.query("SET wait_timeout = 5")
        defer {
            // A lost connection has no locks.
            for end in ["UNLOCK TABLES", "SET wait_timeout = DEFAULT"] where db.lost == nil { _ = try? db.query(end) }
        }
        try db.query("LOCK TABLES \(table) WRITE")
        let made = Result { () throws(MariaDBError) in try db.query(statement) }
        // If it is there already, whoever made it may have been interrupted here.
        if case .failure(let error) = made, error.code != 1359 { throw error }
        // If this fails, no more is lost than a statement that fails once.
        _ = try? db.query("ALTER TABLE \(table) COMMENT = '', ALGORITHM = INSTANT")
        _ = try made.get()
    }

    /// - Returns: nil if the statement makes no trigger.
    package static func tableOfTrigger(_ statement: String) -> Substring? {
        statement.prefixMatch(of: /CREATE (?:OR REPLACE )?TRIGGER \w+ \w+ \w+ ON (\w+)/)?.1
    }

    private func note(
        started count: Int, _ migration: Migration, _ start: Timestamp, _ db: Connection
    ) throws(MariaDBError) -> Outcome {
        try db.execute(
            "UPDATE schema_migrations SET statements_started = ? WHERE number = ? AND started_at = ?", count,
            migration.number, start)
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
