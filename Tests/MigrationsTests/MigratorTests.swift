import Foundation
import MariaDB
import Migrations
import Synchronization
import TestSupport
import Testing
import Threads

struct MigratorTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase(migrated: false) }

    private func connect() throws -> Connection { try Connection(database.options.forMigrations) }

    private static let first = """
        CREATE TABLE animals (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20));
        INSERT INTO animals (name) VALUES ('duck');
        CREATE TRIGGER animals_stay BEFORE DELETE ON animals FOR EACH ROW
        BEGIN
            SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'animals stay';
        END;
        INSERT INTO animals (name) VALUES ('goose'), ('merganser');
        """
    private static let second = """
        ALTER TABLE animals ADD COLUMN legs INT NOT NULL DEFAULT 2, ALGORITHM = INSTANT;
        UPDATE animals SET legs = legs + 2 WHERE name = 'duck';
        ALTER TABLE animals ADD UNIQUE KEY animals_name (name), ALGORITHM = INPLACE, LOCK = NONE;
        """

    private func migrations(_ files: String...) throws -> [Migration] {
        try files.enumerated().map { try Migration(number: $0.offset + 1, name: "step", sql: $0.element) }
    }

    private func migrator() throws -> Migrator { Migrator(try migrations(Self.first, Self.second)) }

    /// The result of both steps, however they were run.
    private func expectEverythingOnce() throws {
        let db = try connect()
        let animals = try db.all("SELECT CONCAT(name, ' ', legs) FROM animals ORDER BY id") { try $0.read(String.self) }
        #expect(animals == ["duck 4", "goose 2", "merganser 2"])
        #expect(throws: MariaDBError.self) { try db.query("DELETE FROM animals") }
        #expect(throws: MariaDBError.self) { try db.query("INSERT INTO animals (name) VALUES ('duck')") }
        let status = try migrator().status(db)
        #expect(status.isCurrent && status.applied.allSatisfy { $0.isFinished })
        #expect(status.applied.map(\.statementsDone) == [4, 3])
    }

    /// The migration waits for a transaction, and then the statement for the migration: it is prepared before the trigger is there.
    @Test func statementsOfOthersOutlastANewTrigger() throws {
        let mark = "ON animals FOR EACH ROW INSERT INTO marks (id) VALUES"
        let all = try migrations(
            Self.first
                + """

                DROP TRIGGER animals_stay;
                CREATE TABLE marks (id INT);
                CREATE TRIGGER animals_went AFTER DELETE \(mark) (OLD.id);
                """, "CREATE TRIGGER animals_left AFTER UPDATE \(mark) (NEW.id);")
        try Migrator(Array(all.prefix(1))).up(connect())
        let (watcher, blocker) = (try connect(), try database.connect())
        try blocker.begin()
        try blocker.execute("INSERT INTO animals (name) VALUES ('swan')")
        let (database, problems) = (database, Monitor<[String]>([]))
        func begin(_ work: @escaping @Sendable () throws -> Void) -> Threads.Thread {
            Threads.Thread { do { try work() } catch { problems.change { $0.append("\(error)") } } }
        }
        let migration = begin {
            var options = database.options.forMigrations
            options.lockWaitTimeout = .seconds(30)
            try Migrator(all).up(Connection(options))
        }
        try database.waitForTableLocks(1, watcher)
        let writer = begin { try database.connect().execute("UPDATE animals SET name = ? WHERE id = ?", "duckling", 1) }
        try database.waitForTableLocks(2, watcher)
        try blocker.commit()
        migration.join()
        writer.join()
        #expect(problems.withLock { $0 } == [])
        #expect(try watcher.query("SELECT id FROM marks") == [[Array("1".utf8)]])
        #expect(try watcher.query("SELECT @@wait_timeout > 5") == [[Array("1".utf8)]])
    }

    @Test func fromNothingAndAgain() throws {
        let migrator = try migrator()
        let db = try connect()
        let before = try migrator.status(db)
        #expect(before.applied.isEmpty && before.pending.map(\.number) == [1, 2] && !before.isCurrent)
        var lines: [String] = []
        try migrator.up(db) { lines.append($0) }
        #expect(
            lines.count == 9 && lines[0] == "0001_step.sql"
                && lines[2] == "  INSERT INTO animals (name) VALUES ('duck')")
        try expectEverythingOnce()
        let dump = try database.dump()
        try migrator.up(db) { Issue.record("\($0)") }
        #expect(try database.dump() == dump)
    }

    @Test func laterFilesAreAdded() throws {
        let db = try connect()
        try Migrator(migrations(Self.first)).up(db)
        #expect(try migrator().status(db).pending.map(\.number) == [2])
        try migrator().up(db)
        try expectEverythingOnce()
    }

    /// The connection breaks before each statement in turn, including the migrator's own ones.
    @Test(arguments: 1...9)
    func itGoesOnWhereItWasInterrupted(_ line: Int) throws {
        let killer = try database.connect()
        let db = try connect()
        var lines = 0
        #expect(throws: (any Error).self) {
            try migrator().up(db) { _ in
                lines += 1
                if lines == line { _ = try? killer.query("KILL \(db.threadID)") }
            }
        }
        #expect(db.lost != nil && lines == line)
        try migrator().up(connect())
        try expectEverythingOnce()
    }

    /// The server runs a statement, DDL or not, and the migrator does not get the answer.
    @Test(arguments: 0..<7, [DatabaseProxy.Cut.beforeServer, .beforeAnswer])
    func itGoesOnAfterAnAnswerThatWasLost(_ index: Int, _ cut: DatabaseProxy.Cut) throws {
        let proxy = try DatabaseProxy(to: MariaDBServer.sharedSocket)
        let statement = try migrations(Self.first, Self.second).flatMap(\.statements)[index]
        proxy.cut(cut, at: statement)
        let db = try Connection(proxy.options(for: database.options.forMigrations))
        #expect(throws: MigrationError.self) { try migrator().up(db) }
        #expect(proxy.cutsMade == 1)
        let interrupted = try #require(try migrator().status(connect()).interrupted)
        #expect(interrupted.statementsDone == (index < 4 ? index : index - 4))
        try migrator().up(connect())
        try expectEverythingOnce()
    }

    @Test func itGoesOnAfterTheServerWasKilled() throws {
        let server = try MariaDBServer()
        let database = try TestDatabase(on: server, migrated: false)
        for _ in 0..<4 {
            var lines = 0
            #expect(throws: (any Error).self) {
                try migrator().up(try Connection(database.options.forMigrations)) { _ in
                    lines += 1
                    if lines == 3 { server.kill9() }
                }
            }
            try server.start()
        }
        try migrator().up(try Connection(database.options.forMigrations))
        let names = try database.connect().all("SELECT name FROM animals ORDER BY id") { try $0.read(String.self) }
        #expect(names == ["duck", "goose", "merganser"])
        #expect(try migrator().status(database.connect()).isCurrent)
    }

    @Test func severalAtOnce() throws {
        let group = DispatchGroup()
        let lines = Mutex<[String]>([])
        let options = database.options.forMigrations
        let migrator = try migrator()
        for _ in 0..<4 {
            group.enter()
            Thread.detachNewThread {
                do {
                    try migrator.up(try Connection(options)) { line in lines.withLock { $0.append(line) } }
                } catch {
                    Issue.record(error)
                }
                group.leave()
            }
        }
        group.wait()
        #expect(lines.withLock { $0.count } == 9)
        try expectEverythingOnce()
    }

    @Test func aChangedFileIsRefused() throws {
        let db = try connect()
        try migrator().up(db)
        let changed = Migrator(try migrations(Self.first, Self.second + "\n-- an afterthought\n"))
        #expect(try changed.status(db).changed.map(\.number) == [2])
        let error = try #require(throws: MigrationError.self) { try changed.up(db) }
        #expect(error.description.hasPrefix("0002_step.sql was applied with another content"))
    }

    @Test func aFailedStepMayBeMendedBehindWhatWasDone() throws {
        let db = try connect()
        let wrong = Self.first.replacing("'goose'", with: "'a name much longer than twenty characters'")
        let error = try #require(throws: MigrationError.self) { try Migrator(migrations(wrong)).up(db) }
        #expect(error.description.hasPrefix("0001_step.sql, statement 4: 1406"))
        let interrupted = try #require(try Migrator(migrations(wrong)).status(db).interrupted)
        #expect(interrupted.statementsDone == 3)

        let tooFar = Self.first.replacing("'duck'", with: "'swan'")
        #expect(throws: MigrationError.self) { try Migrator(migrations(tooFar)).up(db) }
        let tooShort = "CREATE TABLE animals (id INT);"
        #expect(throws: MigrationError.self) { try Migrator(migrations(tooShort)).up(db) }

        try migrator().up(db)
        try expectEverythingOnce()
    }

    /// "Already exists" counts as success only if the statement may have run before.
    @Test func aTableThatWasThereBeforeIsNotTakenForOurs() throws {
        let db = try connect()
        try db.query("CREATE TABLE animals (something_else INT)")
        for _ in 0..<2 {
            let error = try #require(throws: MigrationError.self) { try migrator().up(db) }
            guard case .statement("0001_step.sql", 1, let cause) = error else { throw error }
            #expect(cause.code == 1050)
        }
        try db.query("DROP TABLE animals")
        try migrator().up(db)
        try expectEverythingOnce()
    }

    /// A request uses the table, so the statement gives up and is repeated.
    @Test func aBusyTable() throws {
        try Migrator(migrations(Self.first)).up(connect())
        let reader = try database.connect()
        try reader.begin()
        try reader.execute("SELECT id FROM animals")
        var options = database.options.forMigrations
        options.lockWaitTimeout = .seconds(1)
        var waits = 0
        try migrator().up(try Connection(options)) { line in
            guard line.hasSuffix("again in a second") else { return }
            waits += 1
            if waits == 1 { try? reader.rollback() }
        }
        #expect(waits == 1)
        try expectEverythingOnce()
    }

    @Test func aNewerDatabaseThatFitsIsNotTouched() throws {
        let db = try connect()
        try migrator().up(db)
        let older = Migrator(try migrations(Self.first))
        let status = try older.status(db)
        #expect(status.newer.map(\.number) == [2] && status.isCurrent)
        let dump = try database.dump()
        try older.up(db) { Issue.record("\($0)") }
        #expect(try database.dump() == dump)

        let other = Migrator(older.migrations + [try Migration(number: 3, name: "other", sql: "SELECT 1;")])
        #expect(throws: MigrationError.self) { try other.up(db) }
    }

    @Test func aNewerDatabaseThatDoesNotFitIsRefused() throws {
        let db = try connect()
        try Migrator(migrations(Self.first, "-- compatible-since: 2\n" + Self.second)).up(db)
        let older = Migrator(try migrations(Self.first))
        #expect(try !older.status(db).isCurrent)
        let error = try #require(throws: MigrationError.self) { try older.up(db) }
        #expect(error.description.hasPrefix("the database has migration 0002_step"))
    }

    @Test func anOrdinaryConnectionIsNotPatientEnough() throws {
        let error = try #require(throws: MigrationError.self) { try migrator().up(database.connect()) }
        guard case .impatientConnection = error else { throw error }
    }
}
