import Database
import Glibc
import TestSupport
import Testing

@testable import MariaDB

/// What Galera does to a transaction on one node when another node has committed. `scripts/test --cluster --filter ClusterTests`
/// runs them.
@Suite(.enabled(if: !MariaDBServer.otherNodes.isEmpty)) struct ClusterTests {
    private let database: TestDatabase
    private let statistics = DatabaseStatistics()
    private let subject: Database
    /// On the other node.
    private let rival: Connection

    init() throws {
        database = try TestDatabase(
            """
            CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0, version INT NOT NULL DEFAULT 0);
            CREATE TABLE child (id INT PRIMARY KEY, t_id INT NOT NULL, FOREIGN KEY (t_id) REFERENCES t (id));
            INSERT INTO t (id) VALUES (1), (2)
            """)
        try database.settle()
        subject = Database(database.options(ofNode: 0), statistics: statistics)
        rival = try Connection(database.options(ofNode: 1))
    }

    private func count(_ sql: StaticString) throws -> Int? {
        try subject.catchUp()
        return try subject.read { try $0.first(sql) { try $0.read(Int.self) } }
    }

    @Test func aConnectionKnowsItsCluster() throws {
        #expect(try subject.read { $0.isClusterNode } && rival.isClusterNode)
    }

    enum Moment: CaseIterable {
        case beforeAStatement, beforeCommit
    }

    @Test(arguments: Moment.allCases)
    func aTransactionThatAnotherNodeAbortsIsRepeated(_ moment: Moment) throws {
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            try db.execute("UPDATE t SET n = n + 1 WHERE id = 1")
            if attempts == 1 {
                try rival.execute("UPDATE t SET n = n + 10 WHERE id = 1")
                try database.settle()
            }
            if moment == .beforeAStatement { try db.execute("UPDATE t SET n = n + 1 WHERE id = 2") }
        }
        #expect(attempts == 2 && statistics.deadlocks.value == 1)
        #expect(try count("SELECT n FROM t WHERE id = 1") == 11)
        #expect(try count("SELECT n FROM t WHERE id = 2") == (moment == .beforeAStatement ? 1 : 0))
    }

    @Test func aChildWhoseParentAnotherNodeRemovedIsRepeated() throws {
        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            let parent = try db.first("SELECT MAX(id) FROM t") { try $0.read(Int.self) } ?? 0
            if attempts == 1 {
                try rival.execute("DELETE FROM t WHERE id = 2")
                try database.settle()
            }
            try db.execute("INSERT INTO child (id, t_id) VALUES (1, ?)", parent)
        }
        #expect(attempts == 2)
        #expect(try count("SELECT t_id FROM child") == 1)
    }

    @Test(arguments: [1, 5]) func aReadThatDefinitionsEndIsRepeated(definitions: Int) throws {
        var attempts = 0
        let sum = try subject.snapshot { db in
            attempts += 1
            let sum = try db.first("SELECT SUM(id) FROM t") { try $0.read(Int.self) }
            if attempts <= definitions {
                try rival.executeScript("ALTER TABLE t ADD COLUMN another\(attempts) INT")
                // This node applies it a little later.
                let deadline = ContinuousClock.now + .seconds(30)
                while ContinuousClock.now < deadline {
                    _ = try db.first("SELECT SUM(id) FROM t") { try $0.read(Int.self) }
                }
            }
            return sum
        }
        #expect(sum == 3 && attempts == definitions + 1)
    }

    @Test func whatIsMissingIsLookedForOnceMore() throws {
        for number in 3..<203 {
            try rival.execute("INSERT INTO t (id) VALUES (?)", number)
            #expect(
                try subject.find { try $0.first("SELECT id FROM t WHERE id = ?", number) { try $0.read(Int.self) } }
                    == number)
        }
    }

    /// What a request has waited for other nodes, it does not wait again for its transaction.
    @Test func catchingUpIsPartOfATransactionsPatience() throws {
        let patience: UInt32 = 2
        func attempts() -> Int {
            var count = 0
            #expect(throws: TransactionFailure.self) {
                try subject.transaction(RetryPolicy(patience: .seconds(patience))) { _ in
                    count += 1
                    throw TransactionMustRestart()
                }
            }
            return count
        }
        // As long as the patience: time is the subject.
        try subject.catchUp(if: sleep(patience) == 0)
        #expect(attempts() == 1)
        subject.origin = "another request"
        #expect(attempts() > 1)
    }

    @Test func whoHasCaughtUpSeesWhatAnotherNodeHasCommitted() throws {
        for number in 3..<203 {
            try rival.execute("INSERT INTO t (id) VALUES (?)", number)
            #expect(try subject.catchUp())
            let found = try subject.read {
                try $0.first("SELECT id FROM t WHERE id = ?", number) { try $0.read(Int.self) }
            }
            #expect(found == number)
        }
    }
}
