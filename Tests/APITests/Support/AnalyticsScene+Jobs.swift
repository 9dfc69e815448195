import Analytics
import AnalyticsJobs
import Database
import MariaDB
import TestSupport
import Testing
import Text
import Time

/// Background jobs, and what readers of the tables see.
extension AnalyticsScene {
    /// With the clock of the server.
    func compaction(grace: Duration = .seconds(600)) -> Compaction { Compaction(grace: grace, clock: app.time.clock) }

    func retention(of table: EventTable) -> Retention { Retention(of: table, clock: app.time.clock) }

    /// A job's own connection; in a cluster, to another node than `TestApp.client`.
    func database() throws -> Database {
        try app.database.settle()
        return Database(app.database.options(ofNode: 1))
    }

    /// - Returns: what ended a job, if it did not come to its end. As its timer does, this begins again if the database was
    ///   too busy.
    func ending(_ job: () throws -> Void) -> String? {
        for _ in 0..<10 {
            do {
                try job()
                return nil
            } catch TransactionFailure.exhausted {
            } catch {
                return "\(error)"
            }
        }
        return "exhausted 10 times"
    }

    /// Events of a user who has a record, a second apart, as if ingested; with copies in both other tables.
    ///
    /// - Parameter time: of the first.
    func store(_ count: Int, of user: String, from time: Timestamp, copies: Bool = true) throws {
        let db = try app.database.connect()
        // As many as one statement inserts within its time, with ids that follow each other, as real ones do.
        for first in stride(from: 1, through: count, by: 50_000) {
            try db.execute(
                """
                INSERT INTO events (id, app_id, client_event_id, session_id, app_user_id, level, message, is_dev, timestamp,
                                    received_at)
                SELECT UNHEX(REPLACE(UUID(), '-', '')), ?, UNHEX(REPLACE(UUID(), '-', '')),
                       UNHEX(REPLACE(UUID(), '-', '')), u.id, 'info', CONCAT('event ', seq), FALSE,
                       ? + INTERVAL seq - 1 SECOND, ?
                FROM seq_1_to_1000000 JOIN app_users u ON u.project_id = ? AND u.user_id = ?
                WHERE seq BETWEEN ? AND ?
                """, appID, time, app.time.now, project, user, first, min(first + 49_999, count))
        }
        try db.execute(
            """
            INSERT INTO app_user_event_counts (app_user_id, month, n)
            SELECT u.id, CAST(DATE_FORMAT(? + INTERVAL seq - 1 SECOND, '%Y-%m-01') AS DATE), COUNT(*)
            FROM seq_1_to_1000000 JOIN app_users u ON u.project_id = ? AND u.user_id = ?
            WHERE seq <= ? GROUP BY 1, 2
            ON DUPLICATE KEY UPDATE n = n + VALUES(n)
            """, time, project, user, count)
        guard copies else { return }
        try db.execute(
            """
            INSERT INTO metric_events (id, app_id, session_id, app_user_id, metric_slug, phase, is_dev, timestamp,
                                       received_at)
            SELECT e.id, e.app_id, e.session_id, e.app_user_id, 'slug', 'record', e.is_dev, e.timestamp, e.received_at
            FROM events e JOIN app_users u ON u.id = e.app_user_id WHERE u.project_id = ? AND u.user_id = ?
            """, project, user)
        try db.execute(
            """
            INSERT INTO funnel_events (id, app_id, session_id, app_user_id, step_name, message, is_dev, timestamp,
                                       received_at)
            SELECT e.id, e.app_id, e.session_id, e.app_user_id, 'step', e.message, e.is_dev, e.timestamp, e.received_at
            FROM events e JOIN app_users u ON u.id = e.app_user_id WHERE u.project_id = ? AND u.user_id = ?
            """, project, user)
    }

    /// Every row of every view, one a line.
    func views() throws -> [String] {
        let db = try app.database.connect()
        return try db.query("SHOW FULL TABLES WHERE Table_type = 'VIEW'").flatMap { view in
            let name = String(decoding: view[0] ?? [], as: UTF8.self)
            return try db.query("SELECT * FROM \(name)").map { row in
                name + ": "
                    + row.map { $0.map { String(validating: $0, as: UTF8.self) ?? $0.hexadecimal } ?? "NULL" }.joined(
                        separator: " ")
            }
        }.sorted()
    }

    func expectClean(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try Verification.run(database()) == [], sourceLocation: sourceLocation)
    }
}
