import MariaDB
import TestSupport
import Testing

struct ComposedSQLTests {
    private let database: TestDatabase

    init() throws {
        database = try TestDatabase("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(10) NOT NULL)")
        try database.connect().execute("INSERT INTO t (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    }

    private func select(_ ids: [Int], name: String? = nil, _ db: Connection) throws -> [Int] {
        var sql = ComposedSQL("SELECT id FROM t WHERE ")
        sql.append("id IN ", oneOf: ids)
        if let name {
            sql.append(ComposedSQL(" AND name = ?", name))
        }
        sql.append(" ORDER BY id LIMIT ?", 2)
        return try db.all(sql) { row in try row.read() }
    }

    @Test func piecesAndArgumentsKeepTheirOrder() throws {
        let db = try database.connect()
        #expect(try select([3, 2, 1], db) == [1, 2])
        #expect(try select([3, 1], name: "c", db) == [3])
        #expect(try select([2], name: "' OR ''='", db) == [])
        var sql = ComposedSQL("SELECT name FROM t WHERE id = ?", 2)
        #expect(try db.first(sql) { row in try row.read(String.self) } == "b")
        sql.append(" AND name IS NULL")
        #expect(try db.first(sql) { row in try row.read(String.self) } == nil)
    }

    @Test func theSameTextIsPreparedOnce() throws {
        let db = try database.connect()
        func prepared() throws -> String? {
            try db.query("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'").first?[1].map {
                String(decoding: $0, as: UTF8.self)
            }
        }
        for id in 1...3 { _ = try select([id], db) }
        #expect(try prepared() == "1")
        _ = try select([1, 2], db)
        _ = try select([2], name: "b", db)
        _ = try select([2, 3], db)
        #expect(try prepared() == "3")
    }

    @Test func anErrorShowsTheWholeText() throws {
        let db = try database.connect()
        var sql = ComposedSQL("SELECT id FROM t")
        sql.append(" WHERE nothing = ?", "secret")
        let error = try #require(throws: MariaDBError.self) { try db.all(sql) { row in try row.read(Int.self) } }
        #expect(error.sql == "SELECT id FROM t WHERE nothing = ?")
    }
}
