import Database
import MariaDB
import Migrations
import Synchronization
import TestSupport
import Testing
import Threads

/// Migration 20 gives every event its number, also those that the release before writes while and after it runs.
@Suite struct EventSequenceTests {
    private let database: TestDatabase
    private let migrations: [Migration]

    init() throws {
        database = try TestDatabase(migrated: false)
        migrations = try Migration.load(directory: TestDatabase.sqlDirectory)
        try Migrator(Array(migrations.prefix(19))).up(connect())
        for number in 1...3 {
            try connect().execute(
                "INSERT INTO applications (client_id, name, client_type) VALUES (?, 'Shop', 'public')", "logi_\(number)"
            )
        }
    }

    private func connect() throws -> Connection { try Connection(database.options.forMigrations) }

    private func migrate() throws { try Migrator(Array(migrations.prefix(20))).up(connect()) }

    /// As the release before does it.
    private static func insertAsBefore(_ application: Int, _ connection: Connection) throws {
        let last = try lockCounter(application, connection)
        let ulid = padded(last + 1)
        try connection.execute(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, next_attempt_at)
            SELECT id, ?, ?, ?, IF(webhook_url IS NULL, NULL, NOW(3)) FROM applications WHERE id = ?
            """, "evt_" + ulid, "user.merged", Array("{}".utf8), application)
        try connection.execute(
            "UPDATE application_event_counters SET last_ulid = ? WHERE application_id = ?", ulid, application)
    }

    /// As this release does it.
    private static func insert(_ application: Int, _ connection: Connection) throws {
        let ulid = padded(try lockCounter(application, connection) + 1)
        let seq =
            try connection.first(
                "SELECT last_seq FROM application_event_counters WHERE application_id = ? FOR UPDATE", application
            ) { row in try row.read(Int.self) + 1 } ?? 0
        try connection.execute(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, seq)
            VALUES (?, ?, 'user.merged', '{}', ?)
            """, application, "evt_" + ulid, seq)
        try connection.execute(
            "UPDATE application_event_counters SET last_ulid = ?, last_seq = ? WHERE application_id = ?", ulid, seq,
            application)
    }

    private static func lockCounter(_ application: Int, _ connection: Connection) throws -> Int {
        func read() throws -> Int? {
            try connection.first(
                "SELECT last_ulid FROM application_event_counters WHERE application_id = ? FOR UPDATE", application
            ) { row in Int(try row.read(String.self)) ?? 0 }
        }
        if let last = try read() { return last }
        try connection.execute(
            """
            INSERT INTO application_event_counters (application_id) VALUES (?)
            ON DUPLICATE KEY UPDATE application_id = VALUES(application_id)
            """, application)
        return try read() ?? 0
    }

    private static func padded(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 26 - digits.count) + digits
    }

    /// Of each application: its numbers in the order of its rows, and its counter.
    private func expectNumbered(_ counts: [Int], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let db = try connect()
        for (index, count) in counts.enumerated() {
            let seqs = try db.all(
                "SELECT seq FROM webhook_outbox WHERE application_id = ? ORDER BY id", index + 1
            ) { try $0.read(Int.self) }
            #expect(seqs == Array(1..<(count + 1)), sourceLocation: sourceLocation)
            let last = try db.first(
                "SELECT last_seq FROM application_event_counters WHERE application_id = ?", index + 1
            ) { try $0.read(Int.self) }
            #expect(last ?? 0 == count, sourceLocation: sourceLocation)
        }
    }

    @Test func rowsThatAreThereAreNumberedInTheirOrder() throws {
        let db = Database(database.options)
        for application in [1, 2, 1, 1, 2] { try db.transaction { try Self.insertAsBefore(application, $0) } }
        try migrate()
        try expectNumbered([3, 2, 0])
        // Both releases go on.
        for application in [3, 1, 2] {
            try db.transaction { try Self.insertAsBefore(application, $0) }
            try db.transaction { try Self.insert(application, $0) }
            try db.transaction {
                try Self.insertAsBefore(application, $0)
                try Self.insertAsBefore(application, $0)
            }
        }
        try expectNumbered([7, 6, 4])
        // What is erased takes no number with it.
        try db.transaction { try $0.execute("DELETE FROM webhook_outbox WHERE application_id = 3") }
        try db.transaction { try Self.insertAsBefore(3, $0) }
        let next = try connect().first("SELECT seq FROM webhook_outbox WHERE application_id = 3") { row in
            try row.read(Int.self)
        }
        #expect(next == 5)
    }

    @Test func aRowWithoutACounterIsRefused() throws {
        try migrate()
        #expect(throws: MariaDBError.self) {
            try connect().execute(
                """
                INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload)
                VALUES (1, 'evt_1', 'user.merged', '{}')
                """)
        }
    }

    /// A crash leaves it between any two statements; whoever writes meanwhile does so with what there is by then.
    @Test func writersGoOnBetweenItsStatements() throws {
        let db = Database(database.options)
        var count = 0
        try db.transaction { try Self.insertAsBefore(1, $0) }
        try Migrator(Array(migrations.prefix(20))).up(connect()) { line in
            guard line.hasPrefix("  ") else { return }
            // Before each statement: some applications have events by then, some get their first.
            try? db.transaction { connection in
                for application in 1...min(3, count / 2 + 1) { try Self.insertAsBefore(application, connection) }
            }
            count += 1
        }
        let counts = try (1...3).map { application -> Int in
            let rows = try connect().first("SELECT COUNT(*) FROM webhook_outbox WHERE application_id = ?", application)
            {
                try $0.read(Int.self)
            }
            return rows ?? 0
        }
        #expect(count == 6 && counts[0] == 7 && counts[2] > 0, "\(count) \(counts)")
        try expectNumbered(counts)
    }

    @Test func bothReleasesWriteAtOnceWhileItRuns() throws {
        let rounds = 120
        let options = database.options
        let db = Database(options)
        for _ in 1...20 { try db.transaction { try Self.insertAsBefore(1, $0) } }
        let isMigrated = Monitor(false)
        let began = Monitor(0)
        let failures = Mutex<[String]>([])
        func writer(_ body: @escaping @Sendable (Database, Int) throws -> Void) -> Threads.Thread {
            Threads.Thread {
                let db = Database(options)
                do {
                    for round in 0..<rounds {
                        try body(db, round)
                        began.change { $0 += 1 }
                    }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
        }
        let old = (1...2).map { thread in
            writer { db, round in try db.transaction { try Self.insertAsBefore((thread + round) % 2 + 1, $0) } }
        }
        let new = writer { db, round in
            _ = isMigrated.wait(atMost: .seconds(60)) { $0 ? true : nil }
            try db.transaction { try Self.insert(round % 2 + 1, $0) }
        }
        _ = began.wait(atMost: .seconds(60)) { $0 > 10 ? true : nil }
        try migrate()
        isMigrated.change { $0 = true }
        for thread in old + [new] { thread.join() }
        #expect(failures.withLock { $0 } == [])
        try expectNumbered([20 + 3 * rounds / 2, 3 * rounds / 2])
    }
}
