import MariaDB
import TestSupport
import Testing
import Time

/// If a row is not read as it was selected, the error names the column and the statement.
struct RowTests {
    private let database: TestDatabase
    private let db: Connection

    init() throws {
        database = try TestDatabase(
            """
            CREATE TABLE t (n BIGINT, u BIGINT UNSIGNED, s VARCHAR(10), b VARBINARY(10), d DATETIME(3), f DOUBLE);
            INSERT INTO t VALUES (-1, 18446744073709551615, 'text', x'00', NOW(3), 0.5), (NULL, NULL, NULL, NULL, NULL, NULL)
            """)
        db = try database.connect()
    }

    private func problem(_ sql: StaticString, read: (inout Row) throws -> Void) throws -> String {
        let error = try #require(throws: MariaDBError.self) { try db.first(sql, read: read) }
        #expect(error.code == 0 && error.sql == "\(sql)")
        return error.message
    }

    @Test func null() throws {
        let sql: StaticString = "SELECT 1 AS one, s AS nickname FROM t WHERE s IS NULL"
        let problem = try problem(sql) { row in
            _ = try row.read(Int.self)
            _ = try row.read(String.self)
        }
        #expect(problem == "column 2 (nickname) is NULL, but is not read as an Optional")
    }

    @Test func otherTypes() throws {
        #expect(
            try problem("SELECT s FROM t") { _ = try $0.read(Int.self) }
                == "column 1 (s) is read as an integer, but is text or bytes")
        #expect(
            try problem("SELECT n FROM t") { _ = try $0.read(String.self) }
                == "column 1 (n) is read as text, but is an integer")
        #expect(
            try problem("SELECT d FROM t") { _ = try $0.read(String.self) }
                == "column 1 (d) is read as text, but is a DATETIME")
        #expect(
            try problem("SELECT u FROM t") { _ = try $0.read(Timestamp.self) }
                == "column 1 (u) is read as a DATETIME, but is an unsigned integer")
        #expect(
            try problem("SELECT f FROM t") { _ = try $0.read(Int.self) }
                == "column 1 (f) is read as an integer, but is a DOUBLE")
        #expect(
            try problem("SELECT n FROM t") { _ = try $0.read([UInt8].self) }
                == "column 1 (n) is read as bytes, but is an integer")
    }

    @Test func integersOutOfRange() throws {
        #expect(try problem("SELECT n FROM t") { _ = try $0.read(UInt64.self) } == "column 1 (n) is negative")
        #expect(
            try problem("SELECT u FROM t") { _ = try $0.read(Int.self) } == "column 1 (u) is above the largest Int64")
        #expect(
            try problem("SELECT n FROM t") { _ = try $0.read(Bool.self) }
                == "column 1 (n) is neither 0 nor 1, so it is not a Bool")
    }

    @Test func columnCounts() throws {
        #expect(
            try problem("SELECT n, s FROM t") { _ = try $0.read(Int.self) } == "1 columns are read of the 2 selected")
        let problem = try problem("SELECT n FROM t") { row in
            _ = try row.read(Int.self)
            _ = try row.read(Int.self)
        }
        #expect(problem == "more columns are read than the 1 selected")
    }

    @Test func argumentCounts() throws {
        for arguments: [any Bindable] in [[], [1], [1, 2, 3]] {
            let error = #expect(throws: MariaDBError.self) {
                try db.execute("SELECT n FROM t WHERE n = ? AND s = ?", arguments: arguments)
            }
            #expect(error?.message == "2 arguments are needed, \(arguments.count) are given")
        }
    }

    /// Rows are buffered, so an error in the middle leaves no unread packets.
    @Test func theConnectionSurvivesAnErrorOfTheReader() throws {
        struct Refusal: Error {}
        #expect(throws: Refusal.self) { try db.all("SELECT n FROM t") { _ in throw Refusal() } }
        #expect(throws: MariaDBError.self) { try db.all("SELECT n FROM t") { try $0.read(String.self) } }
        #expect(try db.all("SELECT n FROM t") { try $0.read(Int?.self) } == [-1, nil])
    }

    @Test func proceduresHaveSeveralResults() throws {
        try db.query("CREATE PROCEDURE p(a INT) BEGIN SELECT a; SELECT a + 1, 'x'; UPDATE t SET n = a; END")
        func first(_ a: Int) throws -> Int? { try db.first("CALL p(?)", a) { try $0.read(Int.self) } }
        for a in 7...9 {
            #expect(try first(a) == a)
            try db.execute("CALL p(?)", -a)
            #expect(try db.first("SELECT COUNT(*) FROM t WHERE n = ?", -a) { try $0.read(Int.self) } == 2)
        }
    }

    @Test func theSameStatementWithinItself() throws {
        func next(_ limit: Int) throws -> [Int] {
            try db.all("SELECT seq FROM seq_1_to_4 WHERE seq <= ?", limit) { row in
                let number = try row.read(Int.self)
                return number > 1 && number == limit ? try next(limit - 1).reduce(number, +) : number
            }
        }
        #expect(try next(4) == [1, 2, 3, 4 + 1 + 2 + (3 + 1 + (2 + 1))])
    }
}
