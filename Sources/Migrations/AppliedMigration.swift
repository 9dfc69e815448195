package import MariaDB
package import Time

/// A row of `schema_migrations`.
package struct AppliedMigration: Sendable {
    package let number: Int
    package let name: String
    package let digest: [UInt8]
    package let compatibleSince: Int
    /// Of the run that is or was at it last.
    package let startedAt: Timestamp
    /// nil while the migration is running, or if it was interrupted.
    package let finishedAt: Timestamp?
    /// How many of its statements have taken effect.
    package let statementsDone: Int
    /// One more than `statementsDone` while a statement is running. If no migrator is running, it is unknown whether
    /// that statement took effect.
    let statementsStarted: Int
    /// The digest of the finished statements, so that the rest of the file may be corrected. See `Migrator`.
    let doneDigest: [UInt8]

    package var isFinished: Bool { finishedAt != nil }
}

extension AppliedMigration {
    static func createTable(_ db: Connection) throws {
        try db.execute(
            """
            CREATE TABLE IF NOT EXISTS schema_migrations (
                number             INT UNSIGNED NOT NULL,
                name               VARCHAR(100) CHARACTER SET ascii COLLATE ascii_nopad_bin NOT NULL,
                digest             BINARY(32) NOT NULL,
                compatible_since   INT UNSIGNED NOT NULL,
                started_at         DATETIME(3) NOT NULL,
                finished_at        DATETIME(3) NULL,
                statements_started INT UNSIGNED NOT NULL,
                statements_done    INT UNSIGNED NOT NULL,
                done_digest        BINARY(32) NOT NULL,
                PRIMARY KEY (number)
            ) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_unicode_ci
            """)
    }

    /// All rows in order; empty if the database was never migrated.
    package static func all(_ db: Connection) throws -> [AppliedMigration] {
        do {
            return try db.all(
                """
                SELECT number, name, digest, compatible_since, started_at, finished_at, statements_done,
                    statements_started, done_digest
                FROM schema_migrations ORDER BY number
                """
            ) { row in
                AppliedMigration(
                    number: try row.read(), name: try row.read(), digest: try row.read(),
                    compatibleSince: try row.read(), startedAt: try row.read(), finishedAt: try row.read(),
                    statementsDone: try row.read(), statementsStarted: try row.read(), doneDigest: try row.read())
            }
        } catch let error as MariaDBError where error.code == 1146 {
            return []
        }
    }
}
