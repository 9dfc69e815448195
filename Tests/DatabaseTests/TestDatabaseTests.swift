import MariaDB
import TestSupport
import Testing

/// Properties of test databases that all other tests rely on.
struct TestDatabaseTests {
    @Test func dumpsAreStableAndComplete() throws {
        let database = try TestDatabase(
            """
            CREATE TABLE b (id INT PRIMARY KEY, name VARCHAR(10) NULL, bytes BLOB, twice INT AS (id * 2) STORED);
            CREATE TABLE a (id INT PRIMARY KEY);
            CREATE VIEW v AS SELECT id FROM a;
            INSERT INTO b (id, name, bytes) VALUES (10, NULL, x'FF00'), (9, '김', ''), (1, 'x', 'y');
            INSERT INTO a VALUES (1)
            """)
        let dump = """
            a: id=1
            b: id=1 name=x bytes=y twice=2
            b: id=9 name=김 bytes= twice=18
            b: id=10 name=NULL bytes=x'ff00' twice=20

            """
        #expect(try database.dump() == dump)
        #expect(try database.dump() == dump)
        try database.connect().execute("UPDATE b SET name = 'z' WHERE id = 10")
        #expect(try database.dump() != dump)
    }

    @Test func everyOneIsAnother() throws {
        let first = try TestDatabase()
        let second = try TestDatabase()
        #expect(first.name != second.name)
        #expect(try first.dump() == second.dump())
        try first.connect().executeScript("CREATE TABLE only_in_the_first (id INT)")
        #expect(throws: MariaDBError.self) { try second.connect().executeScript("SELECT id FROM only_in_the_first") }
    }

    @Test func nothingIsLeftOfOne() throws {
        var database: TestDatabase? = try TestDatabase()
        let options = try #require(database).options
        database = nil
        #expect(try #require(throws: MariaDBError.self) { try Connection(options) }.code == 1049)
    }

    @Test func aServerOfOnesOwn() throws {
        let server = try MariaDBServer(options: ["--log-bin", "--server-id=1"])
        let database = try TestDatabase(on: server)
        #expect(try database.connect().first("SELECT @@log_bin") { try $0.read(Bool.self) } == true)
        let before = try database.dump()
        try server.restart()
        #expect(try database.dump() == before)
    }
}
