import MariaDB
import TestSupport
import Testing
import Time

@testable import Migrations

struct SchemaCheckTests {
    private func row(_ number: Int, since: Int? = nil, isFinished: Bool = true) -> AppliedMigration {
        AppliedMigration(
            number: number, name: "step", digest: [], compatibleSince: since ?? number - 1,
            startedAt: Timestamp(seconds: 0), finishedAt: isFinished ? Timestamp(seconds: 1) : nil, statementsDone: 1,
            statementsStarted: 1, doneDigest: [])
    }

    /// The problem that a program with three known migrations reports.
    private func problem(_ applied: AppliedMigration...) -> SchemaCheck.Problem? {
        SchemaCheck.problem(applied: applied, version: 3)
    }

    @Test func everyCase() {
        #expect(problem() == .neverMigrated)
        #expect(problem(row(1), row(2)) == .behind(2))
        #expect(problem(row(1), row(2), row(3)) == nil)
        #expect(problem(row(1), row(2), row(3, isFinished: false)) == .unfinished(3))
        // Expand, then contract.
        #expect(problem(row(1), row(2), row(3), row(4)) == nil)
        #expect(problem(row(1), row(2), row(3), row(4, isFinished: false)) == nil)
        #expect(problem(row(1), row(2), row(3), row(4), row(5)) == .newerIncompatible(5))
        #expect(problem(row(1), row(2), row(3), row(4), row(5, since: 2)) == nil)
        #expect(problem(row(1), row(2), row(3), row(4, since: 4)) == .newerIncompatible(4))
        #expect(problem(row(1), row(2), row(3), row(4, since: 4, isFinished: false)) == .newerIncompatible(4))
    }

    @Test func theVersionIsTheNewestFile() throws {
        #expect(try Migration.load(directory: TestDatabase.sqlDirectory).last?.number == SchemaCheck.version)
    }

    @Test func onRealDatabases() throws {
        let database = try TestDatabase()
        let db = try database.connect()
        #expect(try SchemaCheck.problem(db) == nil)
        try db.execute("DELETE FROM schema_migrations WHERE number = ?", SchemaCheck.version)
        #expect(try SchemaCheck.problem(db) == .behind(SchemaCheck.version - 1))
        let empty = try TestDatabase(migrated: false)
        #expect(try SchemaCheck.problem(empty.connect()) == .neverMigrated)
    }

    @Test func problemsSayWhatToDo() {
        #expect(SchemaCheck.Problem.neverMigrated.description.contains("merganserctl migrate up"))
        #expect(SchemaCheck.Problem.behind(3).description.contains("the schema is at 0003"))
        #expect(SchemaCheck.Problem.unfinished(3).description.contains("migration 0003 has not ended"))
        #expect(SchemaCheck.Problem.newerIncompatible(42).description.contains("migration 0042"))
    }
}
