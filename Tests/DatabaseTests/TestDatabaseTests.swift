import Foundation
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

    @Test func nothingIsLeftOfOneWithTablesOfItsOwn() throws {
        var database: TestDatabase? = try TestDatabase(migrated: false)
        let options = try #require(database).options
        database = nil
        #expect(try #require(throws: MariaDBError.self) { try Connection(options) }.code == 1049)
    }

    /// Lets a test do `script` in a schema, and takes others until that one comes back or its tables are dropped.
    ///
    /// - Parameter file: the name of one in the schema's folder that MariaDB does not know.
    /// - Returns: the schema as the next test finds it; nil if it was dropped.
    private func next(after script: String, leaving file: String? = nil) throws -> TestDatabase? {
        let watcher = try TestDatabase(migrated: false).connect()
        var database: TestDatabase? = try TestDatabase()
        let name = try #require(database).name
        try #require(database).connect().executeScript(script)
        if let file {
            let folder = try watcher.first("SELECT @@datadir") { try $0.read(String.self) }
            try Data().write(to: URL(filePath: "\(#require(folder))/\(name)/\(file)"))
        }
        database = nil
        // Those that have waited longer come first.
        var others: [TestDatabase] = []
        while true {
            let next = try TestDatabase()
            if next.name == name { return next }
            others.append(next)
            // The database itself may stay: see `UsedSchema.drop`.
            let tables = "SELECT 1 FROM information_schema.tables WHERE table_schema = '\(name)' LIMIT 1"
            if try watcher.query(tables).isEmpty { return nil }
        }
    }

    @Test func nothingIsLeftOfOneThatIsUsedAgain() throws {
        let another = try TestDatabase()
        var used: TestDatabase?
        // Another test may be given it first, and change its definition.
        for _ in 0..<5 where used == nil {
            used = try next(
                after: """
                    INSERT INTO users (contact_email) VALUES ('a@example.com');
                    INSERT INTO audit_log (at, actor, action) VALUES ('2026-05-01', 'operator', 'pak.issued');
                    UPDATE retention_horizons SET horizon = '2020-01-01';
                    DELETE FROM schema_migrations
                    """)
        }
        let again = try #require(used)
        #expect(try again.dump() == another.dump())
        let db = try again.connect()
        try db.executeScript("INSERT INTO users (contact_email) VALUES ('b@example.com')")
        #expect(try db.first("SELECT id FROM users") { try $0.read(Int.self) } == 1)
    }

    @Test(arguments: [
        "ALTER TABLE users ADD COLUMN extra INT", "CREATE TABLE extra (id INT)", "DROP TABLE login_events",
        "ALTER TABLE users DROP KEY users_login_email", "DROP VIEW events_resolved", "DROP TRIGGER audit_log_no_update",
        "CREATE TRIGGER extra BEFORE DELETE ON users FOR EACH ROW SET @x = 1", "CREATE PROCEDURE extra() SELECT 1",
        "ALTER TABLE users COMMENT 'x'", "ALTER DATABASE CHARACTER SET latin1",
        "ANALYZE TABLE users PERSISTENT FOR ALL",
        """
        ALTER TABLE events REORGANIZE PARTITION later INTO
            (PARTITION p209912 VALUES LESS THAN ('2100-01-01'), PARTITION later VALUES LESS THAN (MAXVALUE))
        """,
    ])
    func oneThatWasChangedIsNotUsedAgain(_ change: String) throws {
        #expect(try next(after: change) == nil)
    }

    @Test func oneWhoseFolderStaysIsNotUsedAgain() throws {
        #expect(try next(after: "ALTER TABLE users COMMENT 'x'", leaving: "late") == nil)
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
