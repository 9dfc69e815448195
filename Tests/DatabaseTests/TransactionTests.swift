import Foundation
import TestSupport
import Testing
import Threads

@testable import Database
@testable import MariaDB

struct TransactionTests {
    private let database: TestDatabase
    private let statistics = DatabaseStatistics()
    private let subject: Database
    private let watcher: Connection

    init() throws {
        database = try TestDatabase(
            """
            CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20) NULL, UNIQUE KEY t_name (name));
            INSERT INTO t (id) SELECT seq FROM seq_1_to_100
            """)
        var options = database.options
        options.lockWaitTimeout = .seconds(1)
        subject = Database(options, statistics: statistics)
        watcher = try database.connect()
    }

    private func name(_ id: Int) throws -> String? {
        try watcher.first("SELECT name FROM t WHERE id = ?", id) { try $0.read(String?.self) } ?? nil
    }

    private func isThere(_ id: Int) throws -> Bool {
        try watcher.first("SELECT COUNT(*) FROM t WHERE id = ?", id) { try $0.read(Bool.self) } == true
    }

    @Test func commits() throws {
        let result = try subject.transaction { db in
            try db.execute("INSERT INTO t (id) VALUES (?)", 101)
            #expect(try !isThere(101))
            #expect(db.isInTransaction)
            return "result"
        }
        #expect(result == "result")
        #expect(try isThere(101))
        #expect(statistics.transactions.value == 1 && statistics.retries.value == 0)
    }

    @Test func rollsBackWhenTheClosureThrows() throws {
        struct Refusal: Error {}
        let before = try database.dump()
        #expect(throws: Refusal.self) {
            try subject.transaction { db in
                try db.execute("INSERT INTO t (id) VALUES (?)", 101)
                throw Refusal()
            }
        }
        #expect(try database.dump() == before)
        try subject.transaction { #expect($0.isInTransaction) }
        #expect(statistics.transactions.value == 2 && statistics.retries.value == 0)
    }

    @Test(arguments: TestDatabase.TriggerReading.allCases)
    func aTableThatIsOpenWithoutItsTriggersIsOpenedAnew(reading: TestDatabase.TriggerReading) throws {
        let statement: StaticString = "INSERT INTO audit_log (id) VALUES (1)"
        try watcher.executeScript(
            """
            CREATE TABLE audit_log (id INT PRIMARY KEY);
            CREATE TRIGGER never BEFORE UPDATE ON audit_log FOR EACH ROW SIGNAL SQLSTATE '45000'
            """)
        try database.openWithoutTriggers("audit_log", reading)
        let error = try #require(throws: MariaDBError.self) { try watcher.execute(statement) }
        let name = reading == .afterTheirNames ? "Trigger 'never'" : "Unknown trigger"
        #expect(error.isUnreadTrigger && error.message.hasPrefix("\(name) has an error in its body: "))

        try subject.transaction { try $0.execute(statement) }
        #expect(statistics.retries.value == 1)
        try watcher.execute("INSERT INTO audit_log (id) VALUES (2)")
        #expect(throws: MariaDBError.self) { try watcher.execute("UPDATE audit_log SET id = 3 WHERE id = 2") }

        try database.openWithoutTriggers("audit_log", reading)
        _ = try subject.autocommit { try $0.execute("INSERT INTO audit_log (id) VALUES (4)") }
    }

    /// The statement names the table whose trigger writes the other one.
    @Test(arguments: TestDatabase.TriggerReading.allCases)
    func aTableThatATriggerWritesIsOpenedAnew(reading: TestDatabase.TriggerReading) throws {
        try watcher.executeScript(
            """
            CREATE TABLE projects (id INT PRIMARY KEY);
            CREATE TRIGGER never BEFORE UPDATE ON projects FOR EACH ROW SIGNAL SQLSTATE '45000';
            CREATE TABLE event_attachments (id INT PRIMARY KEY);
            CREATE TRIGGER added AFTER INSERT ON event_attachments FOR EACH ROW INSERT INTO projects (id) VALUES (NEW.id)
            """)
        try database.openWithoutTriggers("projects", reading)
        try subject.transaction { try $0.execute("INSERT INTO event_attachments (id) VALUES (1)") }
        #expect(statistics.retries.value == 1)
    }

    /// CREATE TRIGGER has begun, and waits for a transaction, when the statement is prepared. A server without this defect would
    /// need no repeat.
    @Test(arguments: [true, false]) func aStatementPreparedBesideANewTriggerIsRepeated(inTransaction: Bool) throws {
        try watcher.executeScript(
            """
            CREATE TABLE u (id INT PRIMARY KEY);
            CREATE TRIGGER t_other AFTER UPDATE ON t FOR EACH ROW INSERT INTO u VALUES (NEW.id)
            """)
        let (database, statistics) = (database, statistics)
        let problems = Monitor<[String]>([])
        func begin(_ work: @escaping @Sendable () throws -> Void) -> Threads.Thread {
            Threads.Thread { do { try work() } catch { problems.change { $0.append("\(error)") } } }
        }
        let blocker = try database.connect()
        try blocker.begin()
        try blocker.execute("UPDATE t SET name = 'a' WHERE id = 1")
        let trigger = begin {
            try database.connect().query(
                "CREATE TRIGGER t_removed AFTER DELETE ON t FOR EACH ROW INSERT INTO u VALUES (OLD.id)")
        }
        try database.waitForTableLocks(1, watcher)
        let writer = begin {
            let subject = Database(database.options.patient, statistics: statistics)
            func delete(_ db: Connection) throws { try db.execute("DELETE FROM t WHERE id = ?", 2) }
            if inTransaction { try subject.transaction { try delete($0) } } else { try subject.autocommit(delete) }
        }
        try database.waitForTableLocks(2, watcher)
        try blocker.commit()
        trigger.join()
        writer.join()
        #expect(problems.withLock { $0 } == [])
        #expect(try watcher.query("SELECT id FROM u ORDER BY id") == [[Array("1".utf8)], [Array("2".utf8)]])
        #expect(statistics.retries.value == (inTransaction ? 1 : 0))
    }

    @Test func aTableThatDoesNotExistIsNoReasonToTryLater() throws {
        let error = #expect(throws: MariaDBError.self) {
            try subject.transaction { try $0.execute("INSERT INTO missing VALUES (1)") }
        }
        #expect(error?.code == 1146 && statistics.exhaustions.value == 0)
        #expect(throws: MariaDBError.self) {
            try subject.autocommit { try $0.execute("INSERT INTO missing VALUES (1)") }
        }
    }

    @Test func tablesWithTriggersAreKnown() throws {
        let tables = try TestDatabase().connect().query(
            """
            SELECT DISTINCT EVENT_OBJECT_TABLE FROM information_schema.TRIGGERS
            WHERE EVENT_OBJECT_SCHEMA = DATABASE() ORDER BY EVENT_OBJECT_TABLE
            """)
        #expect(tables.map { String(decoding: $0[0] ?? [], as: UTF8.self) } == UnreadTriggers.tables.map(\.description))
    }

    @Test func readsWhatOthersCommittedMeanwhile() throws {
        try subject.transaction { db in
            func count() throws -> Int? { try db.first("SELECT COUNT(*) FROM t") { try $0.read(Int.self) } }
            #expect(try count() == 100)
            try watcher.execute("INSERT INTO t (id) VALUES (101)")
            #expect(try count() == 101)
        }
    }

    enum Handling: CaseIterable {
        case passesOn, wraps, swallows
    }

    private func handle(_ handling: Handling, _ work: () throws -> Void) throws {
        struct Wrapped: Error { let cause: any Error }
        do {
            try work()
        } catch {
            switch handling {
            case .passesOn: throw error
            case .wraps: throw Wrapped(cause: error)
            case .swallows: break
            }
        }
    }

    /// Another transaction with more work, so that InnoDB rolls back the one under test.
    private func rival(_ started: DispatchSemaphore, _ proceed: DispatchSemaphore) -> DispatchSemaphore {
        let ended = DispatchSemaphore(value: 0)
        let options = database.options
        Thread.detachNewThread {
            do {
                let db = try Connection(options)
                try db.begin()
                try db.execute("UPDATE t SET name = CONCAT('rival ', id) WHERE id BETWEEN 2 AND 100")
                started.signal()
                proceed.wait()
                try db.execute("UPDATE t SET name = 'rival 1' WHERE id = 1")
                try db.commit()
            } catch {
                Issue.record(error)
            }
            ended.signal()
        }
        return ended
    }

    @Test(arguments: Handling.allCases)
    func aDeadlockRepeatsTheClosure(_ handling: Handling) throws {
        let started = DispatchSemaphore(value: 0)
        let proceed = DispatchSemaphore(value: 0)
        let ended = rival(started, proceed)
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            try db.execute("INSERT INTO t (id) VALUES (?)", 1000 + attempts)
            try db.execute("UPDATE t SET name = ? WHERE id = ?", "subject 1", 1)
            if attempts == 1 {
                started.wait()
                proceed.signal()
            }
            try handle(handling) { try db.execute("UPDATE t SET name = ? WHERE id = ?", "subject 2", 2) }
            // After a deadlock there is no transaction, and the server would commit this by itself.
            try handle(handling) { try db.execute("INSERT INTO t (id) VALUES (?)", 2000 + attempts) }
        }
        ended.wait()
        #expect(attempts == 2)
        #expect(statistics.deadlocks.value == 1 && statistics.retries.value == 1)
        #expect(try !isThere(2001) && isThere(2002))
        #expect(try name(1) == "subject 1" && name(2) == "subject 2" && name(3) == "rival 3")
        #expect(try !isThere(1001) && isThere(1002))
    }

    /// Shows why a swallowed deadlock must be remembered: the server does not report it again.
    @Test func afterADeadlockTheServerAnswersACommitWithOK() throws {
        let started = DispatchSemaphore(value: 0)
        let proceed = DispatchSemaphore(value: 0)
        let ended = rival(started, proceed)
        let db = try database.connect()
        try db.begin()
        try db.execute("UPDATE t SET name = 'subject' WHERE id = 1")
        started.wait()
        proceed.signal()
        let error = try #require(throws: MariaDBError.self) {
            try db.execute("UPDATE t SET name = 'subject' WHERE id = 2")
        }
        #expect(error.code == 1213 && db.failure == error)
        #expect(throws: error) { try db.query("SELECT 1") }
        try db.perform("COMMIT")
        ended.wait()
        #expect(try name(1) == "rival 1")
    }

    @Test(arguments: Handling.allCases)
    func aLockTimeoutRepeatsTheClosure(_ handling: Handling) throws {
        try watcher.begin()
        try watcher.execute("UPDATE t SET name = 'watcher' WHERE id = 1")
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            try db.execute("INSERT INTO t (id) VALUES (?)", 1000 + attempts)
            if attempts == 2 { try watcher.rollback() }
            try handle(handling) { try db.execute("UPDATE t SET name = ? WHERE id = ?", "subject", 1) }
        }
        #expect(attempts == 2)
        #expect(statistics.lockTimeouts.value == 1 && statistics.retries.value == 1)
        #expect(try name(1) == "subject" && !isThere(1001) && isThere(1002))
    }

    /// Error codes that only a cluster or rare circumstances cause, sent in the server's own packets.
    @Test(arguments: [1020, 1047, 1180, 1205, 1213], Handling.allCases)
    func everyTransientErrorRepeatsTheClosure(_ code: Int, _ handling: Handling) throws {
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            try db.execute("INSERT INTO t (id) VALUES (?)", 1000 + attempts)
            guard attempts == 1 else { return }
            try handle(handling) { try db.query("SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = \(code)") }
        }
        #expect(attempts == 2 && statistics.retries.value == 1)
        #expect(try !isThere(1001) && isThere(1002))
    }

    @Test func exhaustedAttemptsChangeNothing() throws {
        try watcher.begin()
        try watcher.execute("SELECT id FROM t WHERE id = 1 FOR UPDATE")
        let before = try database.dump()
        var attempts = 0
        let failure = try #require(throws: TransactionFailure.self) {
            try subject.transaction(RetryPolicy(attempts: 3)) { db in
                attempts += 1
                try db.execute("INSERT INTO t (id) VALUES (?)", 101)
                try db.execute("SELECT id FROM t WHERE id = 1 FOR UPDATE NOWAIT")
            }
        }
        guard case .exhausted(let error) = failure else { throw failure }
        #expect(error.code == 1205)
        #expect(attempts == 3 && statistics.retries.value == 2 && statistics.exhaustions.value == 1)
        #expect(try database.dump() == before)
        try watcher.rollback()
        try subject.transaction { try $0.execute("INSERT INTO t (id) VALUES (?)", 101) }
        #expect(try isThere(101))
    }

    @Test func patienceEndsBeforeTheAttempts() throws {
        try watcher.begin()
        try watcher.execute("SELECT id FROM t WHERE id = 1 FOR UPDATE")
        var attempts = 0
        #expect(throws: TransactionFailure.self) {
            try subject.transaction(RetryPolicy(attempts: 100, patience: .milliseconds(1900))) { db in
                attempts += 1
                try db.execute("SELECT id FROM t WHERE id = 1 FOR UPDATE")
            }
        }
        #expect((1...2).contains(attempts))
        try watcher.rollback()
    }

    @Test func aDuplicateOfARacyKeyRepeatsTheClosure() throws {
        var attempts = 0
        let winner = try subject.transaction(RetryPolicy(racyKeys: ["t_name"])) { db in
            attempts += 1
            let seen = try db.first("SELECT id FROM t WHERE name = ?", "wanted") { try $0.read(Int.self) }
            if let seen { return seen }
            try watcher.execute("UPDATE t SET name = 'wanted' WHERE id = 7")
            try db.execute("INSERT INTO t (id, name) VALUES (?, ?)", 101, "wanted")
            return 101
        }
        #expect(winner == 7 && attempts == 2)
    }

    @Test func anyOtherDuplicateIsThrown() throws {
        var attempts = 0
        let error = try #require(throws: MariaDBError.self) {
            try subject.transaction(RetryPolicy(racyKeys: ["t_name"])) { db in
                attempts += 1
                try db.execute("INSERT INTO t (id) VALUES (1)")
            }
        }
        #expect(error.duplicateKey == "PRIMARY" && attempts == 1)
    }

    /// InnoDB rolls back only the statement, so the closure may continue.
    @Test func aDuplicateMayBeSwallowed() throws {
        try subject.transaction { db in
            try db.execute("INSERT INTO t (id) VALUES (101)")
            #expect(throws: MariaDBError.self) { try db.execute("INSERT INTO t (id) VALUES (1)") }
        }
        #expect(try isThere(101) && statistics.retries.value == 0)
    }

    /// START TRANSACTION finds out. Nothing was tried, so this is no retry.
    @Test func aConnectionLostBeforehandIsReplaced() throws {
        let thread = try subject.read { $0.threadID }
        try watcher.query("KILL \(thread)")
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            try db.execute("INSERT INTO t (id) VALUES (101)")
        }
        #expect(try isThere(101))
        #expect(attempts == 1 && statistics.retries.value == 0)
        #expect(statistics.reconnects.value == 1 && statistics.openConnections.value == 1)
    }

    @Test(arguments: [DatabaseProxy.Cut.beforeServer, .beforeAnswer])
    func aConnectionLostAtTheBeginningIsReplacedOnce(_ cut: DatabaseProxy.Cut) throws {
        let proxy = try DatabaseProxy(to: MariaDBServer.sharedSocket)
        let subject = Database(proxy.options(for: database.options), statistics: statistics)
        _ = try subject.read { $0.threadID }
        var attempts = 0
        func insert(_ id: Int) throws {
            try subject.transaction { db in
                attempts += 1
                try db.execute("INSERT INTO t (id) VALUES (?)", id)
            }
        }
        proxy.cut(cut, at: "START TRANSACTION")
        try insert(101)
        #expect(try isThere(101) && attempts == 1)
        #expect(
            statistics.retries.value == 0 && statistics.unknownOutcomes.value == 0 && statistics.reconnects.value == 1)

        for _ in 1...2 { proxy.cut(cut, at: "START TRANSACTION") }
        let failure = try #require(throws: TransactionFailure.self) { try insert(102) }
        guard case .unreachable(let error) = failure else { throw failure }
        #expect(error.isConnectionLost && attempts == 1 && proxy.cutsMade == 3)
        try insert(103)
        #expect(try !isThere(102) && isThere(103) && statistics.openConnections.value == 1)
    }

    @Test(arguments: Handling.allCases)
    func aConnectionLostWithinRepeatsTheClosure(_ handling: Handling) throws {
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            try db.execute("INSERT INTO t (id) VALUES (?)", 1000 + attempts)
            if attempts == 1 { try watcher.query("KILL \(db.threadID)") }
            try handle(handling) { try db.execute("INSERT INTO t (id) VALUES (?)", 2000 + attempts) }
        }
        #expect(attempts == 2 && statistics.retries.value == 1 && statistics.reconnects.value == 1)
        #expect(try !isThere(1001) && !isThere(2001) && isThere(1002) && isThere(2002))
    }

    @Test(arguments: [DatabaseProxy.Cut.beforeServer, .beforeAnswer])
    func aConnectionLostDuringCommitIsNotRepeated(_ cut: DatabaseProxy.Cut) throws {
        let proxy = try DatabaseProxy(to: MariaDBServer.sharedSocket)
        let subject = Database(proxy.options(for: database.options), statistics: statistics)
        try subject.transaction { try $0.execute("INSERT INTO t (id) VALUES (101)") }
        proxy.cut(cut)
        var attempts = 0
        let failure = try #require(throws: TransactionFailure.self) {
            try subject.transaction { db in
                attempts += 1
                try db.execute("INSERT INTO t (id) VALUES (102)")
            }
        }
        guard case .outcomeUnknown(let error) = failure else { throw failure }
        #expect(error.isConnectionLost)
        #expect(attempts == 1 && proxy.cutsMade == 1)
        #expect(statistics.unknownOutcomes.value == 1 && statistics.retries.value == 0)
        #expect(try isThere(102) == (cut == .beforeAnswer))
        try subject.transaction { try $0.execute("INSERT INTO t (id) VALUES (103)") }
        #expect(try isThere(103) && statistics.openConnections.value == 1)
    }

    @Test func nothingIsNested() throws {
        let expected = "this Database already runs a closure: pass its Connection on instead of nesting"
        try subject.transaction { db in
            try db.execute("INSERT INTO t (id) VALUES (101)")
            let nested = #expect(throws: MariaDBError.self) { try subject.transaction { _ in } }
            #expect(nested?.message == expected)
            #expect(throws: MariaDBError.self) { try subject.read { _ in } }
            #expect(throws: MariaDBError.self) { try subject.snapshot { _ in } }
        }
        #expect(try isThere(101))
    }

    @Test(arguments: ["CREATE TABLE other (id INT)", "COMMIT", "ROLLBACK"])
    func aTransactionThatAStatementEndedIsAnError(_ statement: String) throws {
        let error = #expect(throws: MariaDBError.self) {
            try subject.transaction { try $0.query(statement) }
        }
        #expect(error?.message.hasPrefix("the transaction was ended by a statement of its own closure") == true)
        try subject.transaction { try $0.execute("INSERT INTO t (id) VALUES (101)") }
        #expect(try isThere(101))
    }

    @Test func manyWriters() throws {
        let group = DispatchGroup()
        let options = database.options
        for writer in 0..<8 {
            group.enter()
            Thread.detachNewThread { [statistics] in
                do {
                    let subject = Database(options, statistics: statistics)
                    for round in 0..<25 {
                        // In an order that invites deadlocks, more than six attempts would stand.
                        let ids = [1, 2, 3, 4].shuffled()
                        try subject.transaction(RetryPolicy(attempts: 1000, patience: .seconds(60))) { db in
                            for id in ids { try db.execute("SELECT id FROM t WHERE id = ? FOR UPDATE", id) }
                            try db.execute("INSERT INTO t (id) VALUES (?)", 1000 + writer * 25 + round)
                        }
                    }
                } catch {
                    Issue.record(error)
                }
                group.leave()
            }
        }
        group.wait()
        #expect(try watcher.first("SELECT COUNT(*) FROM t WHERE id >= 1000") { try $0.read(Int.self) } == 200)
        #expect(statistics.transactions.value == 200 && statistics.exhaustions.value == 0)
        #expect(statistics.openConnections.value == 0)
    }
}
