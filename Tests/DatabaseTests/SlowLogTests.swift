import Database
import MariaDB
import Synchronization
import TestSupport
import Testing

struct SlowLogTests {
    private let database: TestDatabase
    private let statistics = DatabaseStatistics()
    private let logged = Logged()

    init() throws {
        database = try TestDatabase("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2), (3)")
    }

    private final class Logged: Sendable {
        private let lines = Mutex<[SlowLog.Line]>([])

        var statements: [SlowLog.Line] { of("slow statement") }
        var transactions: [SlowLog.Line] { of("slow transaction") }

        func add(_ line: SlowLog.Line) { lines.withLock { $0.append(line) } }

        private func of(_ message: String) -> [SlowLog.Line] {
            lines.withLock { lines in lines.filter { $0.message == message } }
        }
    }

    private func subject(threshold: Duration, lockWait: Duration = .seconds(3)) -> Database {
        var options = database.options
        options.lockWaitTimeout = lockWait
        let log = SlowLog(threshold: threshold) { [logged] line in logged.add(line) }
        return Database(options, statistics: statistics, slowLog: log)
    }

    @Test func aSlowStatementIsLoggedWithoutItsArguments() throws {
        let subject = subject(threshold: .milliseconds(1000))
        subject.origin = "request 1"
        let connection = try subject.read { connection in
            _ = try connection.all("SELECT id FROM t WHERE id <> ?", 4711) { row in try row.read(Int.self) }
            _ = try connection.all("SELECT id, SLEEP(?) FROM t", 0.4) { row in
                (try row.read(Int.self), try row.read(Int.self))
            }
            return connection.threadID
        }
        let statement = try #require(logged.statements.first)
        #expect(logged.statements.count == 1, "and no other")
        #expect((1190..<20_000).contains(statement.milliseconds))
        let expected: [String: SlowLog.Line.Value] = [
            "sql": .text("SELECT id, SLEEP(?) FROM t"), "rows": .number(3), "connection": .number(connection),
            "request_id": .text("request 1"), "milliseconds": .number(statement.milliseconds),
        ]
        #expect(statement.fields == expected)
        #expect(logged.transactions.isEmpty)

        #expect(statistics.statements.value == 2)
        #expect(statistics.slowStatements.value == 1)
        #expect((1_190_000..<20_000_000).contains(statistics.statementMicroseconds.value))
    }

    @Test func whatFailsAfterLongIsLoggedWithItsErrorAndTheTransactionWithItsAttempts() throws {
        let holder = try database.connect()
        try holder.begin()
        try holder.execute("UPDATE t SET id = 4 WHERE id = 1")
        let subject = subject(threshold: .milliseconds(500), lockWait: .seconds(1))
        subject.origin = "request 2"
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            if attempts == 2 { try holder.rollback() }
            try db.execute("DELETE FROM t WHERE id = ?", 1)
        }
        let statement = try #require(logged.statements.first)
        #expect(statement.fields["sql"] == .text("DELETE FROM t WHERE id = ?"))
        #expect(statement.fields["error_code"] == .number(1205))
        #expect(statement.milliseconds >= 900)
        let transaction = try #require(logged.transactions.first)
        #expect(transaction.milliseconds >= 900)
        let expected: [String: SlowLog.Line.Value] = [
            "attempts": .number(2), "outcome": .text("committed"), "request_id": .text("request 2"),
            "milliseconds": .number(transaction.milliseconds),
        ]
        #expect(transaction.fields == expected)
        // Two times START TRANSACTION and DELETE, ROLLBACK, COMMIT.
        #expect(statistics.statements.value == 6)
    }

    @Test func aTransactionOfManyFastStatementsIsLoggedWhenItIsRefused() throws {
        struct Refusal: Error {}
        let subject = subject(threshold: .milliseconds(150))
        #expect(throws: Refusal.self) {
            try subject.transaction { db in
                for _ in 0..<10 {
                    _ = try db.first("SELECT SLEEP(0.02)") { row in try row.read(Int.self) }
                }
                throw Refusal()
            }
        }
        let transaction = try #require(logged.transactions.first)
        #expect(transaction.fields["attempts"] == .number(1) && transaction.fields["outcome"] == .text("given up"))
        #expect(transaction.fields["request_id"] == nil)
    }

    @Test func aBlockIsLoggedAsItWasSent() throws {
        let subject = subject(threshold: .milliseconds(150))
        try subject.transaction { db in
            try db.executeLater("DELETE FROM t WHERE id = ?", 4711)
            _ = try db.first("SELECT SLEEP(?)", 0.2) { row in try row.read(Int.self) }
        }
        let statement = try #require(logged.statements.first)
        #expect(
            statement.fields["sql"] == .text("BEGIN NOT ATOMIC DELETE FROM t WHERE id = ?; SELECT SLEEP(?); END"))
    }

    @Test func withoutALogStatementsAreCountedAllTheSame() throws {
        let subject = Database(database.options, statistics: statistics)
        _ = try subject.read { try $0.first("SELECT SLEEP(0.1)") { row in try row.read(Int.self) } }
        #expect(statistics.statements.value == 1 && statistics.slowStatements.value == 0)
        #expect(statistics.statementMicroseconds.value >= 90_000)
    }

    /// Releases the locks of a thread that hangs.
    @Test func theServerEndsATransactionThatIsIdle() throws {
        var options = database.options
        options.idleTransactionTimeout = .seconds(1)
        let hung = try Connection(options)
        try hung.begin()
        try hung.execute("DELETE FROM t WHERE id = ?", 1)
        // Waits for the lock, which only the end of that transaction frees.
        let other = try database.connect()
        try other.execute("DELETE FROM t WHERE id = ?", 1)
        let error = #expect(throws: MariaDBError.self) { try hung.execute("DELETE FROM t WHERE id = ?", 2) }
        #expect(error?.isConnectionLost == true, "\(String(describing: error))")
    }
}

extension SlowLog.Line {
    fileprivate var milliseconds: Int {
        guard case .number(let number) = fields["milliseconds"] else { return -1 }
        return number
    }
}
