import Foundation
import MariaDB
import Migrations
import TestSupport
import Testing

struct SchemaTextTests {
    /// `sql/schema.sql` is what the migrations make.
    @Test func theFileIsCurrent() throws {
        let file = try String(contentsOfFile: TestDatabase.sqlDirectory + "/schema.sql", encoding: .utf8)
        let database = try TestDatabase(migrated: false)
        let db = try Connection(database.options.forMigrations)
        try Migrator(directory: TestDatabase.sqlDirectory).up(db)
        #expect(try SchemaText.render(db) == file, "run `make schema` and look at the difference")
    }

    @Test func whatItMakesRendersTheSame() throws {
        let migrated = try TestDatabase()
        let original = try SchemaText.render(migrated.connect())
        let empty = try TestDatabase(migrated: false)
        let copy = try empty.connect()
        try copy.executeScript(original)
        #expect(try SchemaText.render(copy) == original)
    }

    @Test func whatDiffersFromPlaceToPlaceIsLeftOut() throws {
        let database = try TestDatabase(migrated: false)
        let db = try database.connect()
        try db.executeScript(
            """
            CREATE TABLE b (id INT PRIMARY KEY AUTO_INCREMENT) COLLATE utf8mb4_bin;
            INSERT INTO b VALUES (41);
            CREATE TABLE a (id INT PRIMARY KEY, b INT, CONSTRAINT a_b_fk FOREIGN KEY (b) REFERENCES b (id));
            CREATE TRIGGER z AFTER INSERT ON a FOR EACH ROW SET @z = 1;
            CREATE TRIGGER y AFTER INSERT ON a FOR EACH ROW SET @y = 1;
            CREATE VIEW v AS SELECT id FROM a
            """)
        let text = try SchemaText.render(db)
        #expect(!text.contains("AUTO_INCREMENT=") && !text.contains("DEFINER") && !text.contains(database.name))
        let order = try ["CREATE TABLE `a`", "TRIGGER `?y`?", "TRIGGER `?z`?", "CREATE TABLE `b`", "VIEW `v`"].map {
            try #require(text.firstRange(of: try Regex($0))).lowerBound
        }
        #expect(order == order.sorted())
    }
}
