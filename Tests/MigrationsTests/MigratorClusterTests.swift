import MariaDB
import Migrations
import TestSupport
import Testing

/// Migrators on two nodes at once, where GET_LOCK of one means nothing to the other. `scripts/test --cluster` runs them.
@Suite(.enabled(if: !MariaDBServer.otherNodes.isEmpty)) struct MigratorClusterTests {
    /// Statements that show if they run twice, or that cannot.
    private static let sql = """
        CREATE TABLE notes (id INT PRIMARY KEY AUTO_INCREMENT, n INT NOT NULL);
        INSERT INTO notes (n) VALUES (1);
        INSERT INTO notes (n) VALUES (2);
        ALTER TABLE notes ADD COLUMN m INT NOT NULL DEFAULT 0;
        INSERT INTO notes (n) VALUES (3);
        """

    /// The second one comes before each line of the first one's progress: before its record, and before each statement.
    @Test(arguments: 1...6) func whoTakesAMigrationOverIsAlone(_ line: Int) throws {
        let database = try TestDatabase(migrated: false)
        try database.settle()
        let migrator = Migrator([try Migration(number: 1, name: "step", sql: Self.sql)])
        func up(onNode number: Int, _ progress: (String) -> Void = { _ in }) throws {
            try migrator.up(Connection(database.options(ofNode: number).forMigrations), progress: progress)
        }
        var lines = 0
        let error = #expect(throws: MigrationError.self) {
            try up(onNode: 0) { _ in
                lines += 1
                guard lines == line else { return }
                do { try up(onNode: 1) } catch { Issue.record(error) }
            }
        }
        #expect(error.map { if case .locked = $0 { true } else { false } } == true, "\(error.debugDescription)")
        #expect(lines == line)
        try database.settle()
        let db = try database.connect()
        #expect(try db.all("SELECT n FROM notes ORDER BY n") { try $0.read(Int.self) } == [1, 2, 3])
        #expect(try migrator.status(db).isCurrent)
        try up(onNode: 0) { Issue.record("\($0)") }
    }
}
