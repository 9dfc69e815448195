import Foundation
import TestSupport
import Testing

@testable import Database
@testable import MariaDB

/// `executeLater`.
struct WaitingStatementsTests {
    private let database: TestDatabase
    private let statistics = DatabaseStatistics()
    private let subject: Database
    private let watcher: Connection

    init() throws {
        database = try TestDatabase(
            """
            CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20) NULL, UNIQUE KEY t_name (name));
            CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, line VARCHAR(20));
            INSERT INTO t (id) SELECT seq FROM seq_1_to_10
            """)
        var options = database.options
        options.lockWaitTimeout = .seconds(1)
        subject = Database(options, statistics: statistics)
        watcher = try database.connect()
    }

    private func lines() throws -> [String] {
        try watcher.all("SELECT line FROM log ORDER BY id") { try $0.read() }
    }

    private func note(_ line: String, _ db: Connection) throws {
        try db.executeLater("INSERT INTO log (line) VALUES (?)", line)
    }

    private func names(_ db: Connection) throws -> [String] {
        try db.all("SELECT name FROM t WHERE name IS NOT NULL ORDER BY id") { try $0.read() }
    }

    @Test func theyRunInTheirOrderWithCommit() throws {
        try subject.transaction { db in
            #expect(try names(db) == [])
            for line in ["one", "two", "three"] { try note(line, db) }
            #expect(try lines() == [])
        }
        #expect(try lines() == ["one", "two", "three"])
    }

    @Test func theyTakeNoRoundTripOfTheirOwn() throws {
        _ = try subject.read { try names($0) }
        let before = statistics.statements.value
        try subject.transaction { db in
            _ = try names(db)
            for line in ["one", "two", "three"] { try note(line, db) }
        }
        #expect(statistics.statements.value - before == (watcher.isClusterNode ? 6 : 3))
    }

    @Test func theyRunBeforeWhateverComesNext() throws {
        try subject.transaction { db in
            try db.executeLater("UPDATE t SET name = ? WHERE id = ?", "first", 1)
            #expect(try names(db) == ["first"])
            try db.executeLater("UPDATE t SET name = ? WHERE id = ?", "second", 2)
            #expect(try db.execute("UPDATE t SET name = CONCAT(name, '!') WHERE name IS NOT NULL").affectedRows == 2)
            try db.executeLater("DELETE FROM t WHERE id = ?", 3)
            #expect(try db.query("SELECT COUNT(*) FROM t") == [[Array("9".utf8)]])
            try db.executeLater("DELETE FROM t WHERE id = ?", 4)
            try db.executeMany("INSERT INTO t (id) VALUES (?)", [[3], [4]])
        }
        #expect(try names(watcher) == ["first!", "second!"])
    }

    /// One row waits; several are sent at once, after what waits.
    @Test func severalRowsAreSentTogether() throws {
        let insert: StaticString = "INSERT INTO log (line) VALUES (?)"
        try subject.transaction { db in
            try db.executeLater(insert, rows: [])
            try db.executeLater(insert, rows: [["one"]])
            #expect(db.waiting.count == (db.isClusterNode ? 0 : 1))
            try db.executeLater(insert, rows: [["two"], ["three"]])
            #expect(db.waiting.isEmpty)
            try db.executeLater(insert, rows: [["four"]])
            #expect(try lines() == [])
        }
        #expect(try lines() == ["one", "two", "three", "four"])
    }

    @Test func composedOnesWaitWithTheOthers() throws {
        let two = ComposedSQL("INSERT INTO log (line) VALUES (?), (?)", "two", "three")
        try subject.transaction { db in
            try note("one", db)
            try db.executeLater(two)
            try note("four", db)
            #expect(db.waiting.count == (db.isClusterNode ? 0 : 3))
            #expect(try lines() == [])
        }
        #expect(try lines() == ["one", "two", "three", "four"])
    }

    @Test func outsideATransactionTheyRunAtOnce() throws {
        _ = try subject.autocommit { db in
            try note("at once", db)
            try db.executeLater(ComposedSQL("INSERT INTO log (line) VALUES (?)", "too"))
        }
        #expect(try lines() == ["at once", "too"])
    }

    /// The rows of a block are there while other statements run.
    @Test func rowsOfABlockAreReadWhileOthersRun() throws {
        try subject.transaction { db in
            try note("first", db)
            let found = try db.all("SELECT id FROM t WHERE id <= 3 ORDER BY id") { row in
                #expect(db.waiting.isEmpty)
                let id = try row.read(Int.self)
                return try #require(try db.first("SELECT id + 100 FROM t WHERE id = ?", id) { try $0.read(Int.self) })
            }
            #expect(found == [101, 102, 103])
        }
        #expect(try lines() == ["first"])
    }

    @Test func nothingRemainsIfOneFails() throws {
        let before = try database.dump()
        let error = try #require(throws: MariaDBError.self) {
            try subject.transaction { db in
                try note("before", db)
                try db.executeLater("INSERT INTO t (id) VALUES (1)")
                try note("after", db)
            }
        }
        #expect(error.duplicateKey == "PRIMARY")
        #expect(try database.dump() == before)
        #expect(statistics.retries.value == 0 && statistics.unknownOutcomes.value == 0)
        try subject.transaction { try note("next", $0) }
        #expect(try lines() == ["next"])
    }

    @Test func nothingRemainsIfAFailureIsSwallowed() throws {
        let before = try database.dump()
        #expect(throws: MariaDBError.self) {
            try subject.transaction { db in
                try note("before", db)
                try db.executeLater("INSERT INTO t (id) VALUES (1)")
                _ = try? names(db)
                _ = try? db.execute("INSERT INTO t (id) VALUES (11)")
                try? note("after", db)
            }
        }
        #expect(try database.dump() == before)
    }

    @Test func nothingRemainsIfTheFailureOfTheOnlyOneIsSwallowed() throws {
        #expect(throws: MariaDBError.self) {
            try subject.transaction { db in
                try db.executeLater("INSERT INTO t (id) VALUES (1)")
                _ = try? db.execute("INSERT INTO t (id) VALUES (11)")
                try note("after", db)
            }
        }
        #expect(try lines() == [])
        try subject.transaction { try note("next", $0) }
        #expect(try lines() == ["next"])
    }

    /// A read outside of any transaction leaves it.
    @Test func aFailureBeforehandIsForgottenAtTheNextBegin() throws {
        let signal = "BEGIN NOT ATOMIC SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205; END"
        #expect(throws: MariaDBError.self) { try subject.read { try $0.query(signal) } }
        #expect(try subject.read { $0.failure } != nil)
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            try note("next", db)
        }
        #expect(try lines() == ["next"])
        #expect(attempts == 1 && statistics.retries.value == 0)
    }

    @Test func aDuplicateOfARacyKeyRepeatsTheClosure() throws {
        try watcher.execute("UPDATE t SET name = 'taken' WHERE id = 1")
        var attempts = 0
        try subject.transaction(RetryPolicy(racyKeys: ["t_name"])) { db in
            attempts += 1
            try note("\(attempts)", db)
            try db.executeLater("UPDATE t SET name = ? WHERE id = 2", attempts == 1 ? "taken" : "free")
        }
        #expect(attempts == 2)
        #expect(try lines() == ["2"])
    }

    @Test func aLockTimeoutRepeatsTheClosure() throws {
        try watcher.begin()
        try watcher.execute("UPDATE t SET name = 'watcher' WHERE id = 1")
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            if attempts == 2 { try watcher.rollback() }
            try note("\(attempts)", db)
            try db.executeLater("UPDATE t SET name = 'subject' WHERE id = 1")
        }
        #expect(attempts == 2 && statistics.lockTimeouts.value == 1 && statistics.unknownOutcomes.value == 0)
        #expect(try lines() == ["2"])
    }

    @Test func aDeadlockRepeatsTheClosure() throws {
        let options = database.options
        let (locked, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            try note("\(attempts)", db)
            try db.execute("UPDATE t SET name = 'subject' WHERE id = 10")
            if attempts == 1 {
                Thread.detachNewThread {
                    do {
                        let db = try Connection(options)
                        try db.begin()
                        // More work, so that InnoDB rolls back the other one.
                        try db.execute("UPDATE t SET name = CONCAT('rival ', id) WHERE id BETWEEN 1 AND 9")
                        locked.signal()
                        try db.execute("UPDATE t SET name = 'rival 10' WHERE id = 10")
                        try db.commit()
                    } catch {
                        Issue.record(error)
                    }
                    ended.signal()
                }
                locked.wait()
                try database.waitForALockWait(watcher)
            } else {
                ended.wait()
            }
            try db.executeLater("UPDATE t SET name = NULL WHERE id = 1")
        }
        #expect(attempts == 2 && statistics.deadlocks.value == 1)
        #expect(try lines() == ["2"])
    }

    @Test func aSavepointHoldsThem() throws {
        struct Refusal: Error {}
        try subject.transaction { db in
            try note("before", db)
            #expect(throws: Refusal.self) {
                try db.savepoint {
                    try note("refused", db)
                    throw Refusal()
                }
            }
            #expect(throws: MariaDBError.self) {
                try db.savepoint {
                    try note("failed", db)
                    try db.executeLater("INSERT INTO t (id) VALUES (1)")
                }
            }
            try db.savepoint { try note("kept", db) }
        }
        #expect(try lines() == ["before", "kept"])
    }

    /// A block is prepared once, and its tables may change afterwards, as they do when a migration runs beside the server.
    /// Only these tables are flushed: others would have to read the statistics of theirs again, and tests count what is read.
    @Test func tablesChangeUnderPreparedBlocks() throws {
        func run(_ line: String) throws {
            try subject.transaction { db in
                try note(line, db)
                let found = try db.all("SELECT id, name FROM t WHERE id = 1 FOR UPDATE") { row in
                    (id: try row.read(Int.self), name: try row.read(String?.self))
                }
                #expect(found.map(\.id) == [1])
                try db.executeLater("UPDATE t SET name = ? WHERE id = 1", line)
            }
        }
        try run("0")
        let changes = [
            "ALTER TABLE t ADD COLUMN more INT NOT NULL DEFAULT 7 FIRST", "ALTER TABLE log ADD KEY (line)",
            "ALTER TABLE t DROP KEY t_name, ADD KEY other (name, id)",
            "CREATE TRIGGER after_log AFTER INSERT ON log FOR EACH ROW UPDATE t SET more = more + 1 WHERE id = 2",
            "ALTER TABLE t MODIFY name VARCHAR(300)", "DROP TRIGGER after_log", "ALTER TABLE t DROP COLUMN more",
            "FLUSH TABLES t, log",
        ]
        for (number, change) in changes.enumerated() {
            try watcher.query(change)
            try run("\(number + 1)")
            #expect(try names(watcher) == ["\(number + 1)"], "\(change)")
        }
        #expect(try lines() == (0...changes.count).map { "\($0)" })
        #expect(statistics.retries.value == 0)
    }
}
