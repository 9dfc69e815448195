import Database
import MariaDB
import TestSupport
import Testing

struct ReadTests {
    private let database: TestDatabase
    private let statistics = DatabaseStatistics()
    private let subject: Database
    private let watcher: Connection

    init() throws {
        database = try TestDatabase("CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1)")
        subject = Database(database.options, statistics: statistics)
        watcher = try database.connect()
    }

    private func count(_ db: Connection) throws -> Int? {
        try db.first("SELECT COUNT(*) FROM t") { try $0.read(Int.self) }
    }

    @Test func oneConnectionIsOpenedOnFirstUseAndKept() throws {
        #expect(statistics.openConnections.value == 0)
        let first = try subject.read { $0.threadID }
        #expect(try subject.read { $0.threadID } == first)
        #expect(try subject.transaction { $0.threadID } == first)
        #expect(statistics.openConnections.value == 1 && statistics.reconnects.value == 0)
    }

    @Test func aLostConnectionIsReplacedOnce() throws {
        try watcher.query("KILL \(subject.read { $0.threadID })")
        #expect(try subject.read(count) == 1)
        #expect(statistics.reconnects.value == 1 && statistics.openConnections.value == 1)

        var runs = 0
        let failure = try #require(throws: TransactionFailure.self) {
            try subject.read { db in
                runs += 1
                try watcher.query("KILL \(db.threadID)")
                return try count(db)
            }
        }
        guard case .unreachable(let error) = failure else { throw failure }
        #expect(error.isConnectionLost && runs == 2)
        #expect(try subject.read(count) == 1)
    }

    @Test func otherErrorsAreThrownAtOnce() throws {
        struct Refusal: Error {}
        var runs = 0
        #expect(throws: Refusal.self) {
            try subject.read { _ in
                runs += 1
                throw Refusal()
            }
        }
        #expect(throws: MariaDBError.self) { try subject.read { _ = try $0.execute("SELECT nothing") } }
        #expect(runs == 1 && statistics.reconnects.value == 0)
    }

    @Test func aSnapshotSeesOneInstant() throws {
        try subject.snapshot { db in
            #expect(try count(db) == 1)
            try watcher.execute("INSERT INTO t VALUES (2)")
            #expect(try count(db) == 1)
        }
        #expect(try subject.read(count) == 2)
    }

    /// A snapshot shows the moment of its beginning, not that of its first read.
    @Test func aSnapshotBeginsAtItsBeginning() throws {
        try subject.snapshot { db in
            try watcher.execute("INSERT INTO t VALUES (2)")
            #expect(try count(db) == 1)
        }
    }

    @Test func aSnapshotWritesNothingAndLeavesNothing() throws {
        let error = try #require(throws: MariaDBError.self) {
            try subject.snapshot { _ = try $0.execute("INSERT INTO t VALUES (2)") }
        }
        #expect(error.code == 1792)
        try subject.transaction { db in
            try db.execute("INSERT INTO t VALUES (3)")
            try watcher.execute("INSERT INTO t VALUES (4)")
            #expect(try count(db) == 3)
        }
        #expect(try subject.read { $0.isInTransaction } == false)
    }

    @Test func aSnapshotIsRepeatedOnAFreshConnection() throws {
        var runs = 0
        let result = try subject.snapshot { db in
            runs += 1
            if runs == 1 { try watcher.query("KILL \(db.threadID)") }
            return try count(db)
        }
        #expect(result == 1 && runs == 2)
    }

    @Test func aServerThatIsKilledAndComesBack() throws {
        let server = try MariaDBServer()
        let database = try TestDatabase(on: server, migrated: false)
        let subject = Database(database.options, statistics: statistics)
        try database.connect().executeScript("CREATE TABLE t (id INT PRIMARY KEY)")
        try subject.transaction { try $0.execute("INSERT INTO t VALUES (1)") }

        server.kill9()
        for _ in 0..<2 {
            let failure = try #require(throws: TransactionFailure.self) { try subject.read(count) }
            guard case .unreachable = failure else { throw failure }
        }
        #expect(throws: TransactionFailure.self) { try subject.transaction { _ in } }
        #expect(throws: TransactionFailure.self) { try subject.snapshot { _ in } }
        #expect(statistics.openConnections.value == 0)

        try server.start()
        #expect(try subject.read(count) == 1)
        try subject.transaction { try $0.execute("INSERT INTO t VALUES (2)") }
        #expect(try subject.snapshot(count) == 2)

        var attempts = 0
        try subject.transaction { db in
            attempts += 1
            try db.execute("INSERT INTO t VALUES (3)")
            if attempts == 1 {
                server.kill9()
                try server.start()
            }
            try db.execute("INSERT INTO t VALUES (4)")
        }
        #expect(try attempts == 2 && subject.read(count) == 4)
    }
}
