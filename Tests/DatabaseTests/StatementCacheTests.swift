import MariaDB
import TestSupport
import Testing

struct StatementCacheTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase("CREATE TABLE t (id INT PRIMARY KEY)") }

    private func status(_ name: String, _ db: Connection) throws -> Int {
        let value = try db.query("SHOW SESSION STATUS LIKE '\(name)'").first?[1]
        return try #require(value.flatMap { Int(String(decoding: $0, as: UTF8.self)) })
    }

    @Test func aStatementIsPreparedOnceAndThenTakesOneRoundTrip() throws {
        let db = try database.connect()
        func select(_ id: Int) throws {
            _ = try db.first("SELECT id FROM t WHERE id = ?", id) { try $0.read(Int.self) }
        }
        try select(0)
        let before = try status("Questions", db)
        for id in 1...10 { try select(id) }
        // The query of the status itself is one.
        #expect(try status("Questions", db) - before == 11)
        #expect(try status("Com_stmt_prepare", db) == 1)
    }

    @Test func composedStatementsOfOneLengthAreTwo() throws {
        let db = try database.connect()
        for _ in 1...2 {
            for (sql, sum) in [(ComposedSQL("SELECT 1 + ?", 10), 11), (ComposedSQL("SELECT 2 + ?", 10), 12)] {
                #expect(try db.first(sql) { try $0.read(Int.self) } == sum)
            }
        }
        #expect(try status("Com_stmt_prepare", db) == 2)
    }

    @Test func theOneNotUsedForLongestGoes() throws {
        var options = database.options
        options.statementCacheLimit = 2
        let db = try Connection(options)
        func first() throws { try db.execute("SELECT 1") }
        func second() throws { try db.execute("SELECT 2") }
        func third() throws { try db.execute("SELECT 3") }
        try first()
        try second()
        try first()
        try third()
        #expect(try status("Com_stmt_prepare", db) == 3)
        try first()
        #expect(try status("Com_stmt_prepare", db) == 3)
        try second()
        #expect(try status("Com_stmt_prepare", db) == 4)
        #expect(try status("Com_stmt_close", db) == 2)
    }

    @Test func aFailedStatementIsPreparedAnew() throws {
        let db = try database.connect()
        func insert() throws { try db.execute("INSERT INTO t (id) VALUES (1)") }
        try insert()
        #expect(throws: MariaDBError.self) { try insert() }
        #expect(try status("Com_stmt_prepare", db) == 1)
        #expect(throws: MariaDBError.self) { try insert() }
        #expect(try status("Com_stmt_prepare", db) == 2)
    }

    @Test func aChangedTableIsNoticed() throws {
        let db = try database.connect()
        try db.execute("INSERT INTO t (id) VALUES (5)")
        func select() throws -> String? { try db.first("SELECT CONCAT(id) FROM t") { try $0.read(String.self) } }
        func id<T: Readable>(as: T.Type) throws -> T? { try db.first("SELECT id FROM t") { try $0.read(T.self) } }
        #expect(try select() == "5")
        #expect(try id(as: Int.self) == 5)
        try database.connect().executeScript("ALTER TABLE t MODIFY id VARCHAR(20)")
        #expect(try select() == "5")
        #expect(try id(as: String.self) == "5")
    }

    @Test func closingTheConnectionFreesItsStatements() throws {
        let watcher = try database.connect()
        var db: Connection? = try database.connect()
        for _ in 0..<3 { try db?.execute("SELECT id FROM t") }
        let thread = try #require(db).threadID
        db = nil
        // The server takes leave of a connection on a thread of its own.
        var isOpen = true
        while isOpen {
            isOpen =
                try watcher.first("SELECT 1 FROM information_schema.PROCESSLIST WHERE ID = ?", thread) {
                    try $0.read(Bool.self)
                } ?? false
        }
        _ = try watcher.query("SELECT 1")
    }
}
