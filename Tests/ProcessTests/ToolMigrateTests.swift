import Foundation
import JSON
import TestSupport
import Testing

@Suite struct ToolMigrateTests {
    @Test func bringsAnEmptyDatabaseUp() throws {
        let installation = try Installation(migrated: false)
        let files = try FileManager.default.contentsOfDirectory(atPath: TestDatabase.sqlDirectory)
            .filter { $0.first?.isNumber == true }.sorted()

        let plan = try installation.tool("migrate", "plan", "--json")
        #expect(plan.exit == .status(0))
        #expect(try plan.json()["steps"]?.array?.compactMap { $0["name"]?.string } == files)
        #expect(try installation.tool("migrate", "plan").output.contains("CREATE TABLE users"))

        let before = try installation.tool("migrate", "status", "--json")
        #expect(before.exit == .status(1))
        #expect(try before.json()["current"] == false)
        #expect(try states(before) == Array(repeating: "pending", count: files.count))

        let up = try installation.tool("migrate", "up", "--json")
        #expect(up.exit == .status(0))
        #expect(try up.json()["applied"]?.array?.compactMap(\.string) == files)
        #expect(up.errorOutput.isEmpty)

        let after = try installation.tool("migrate", "status", "--json")
        #expect(after.exit == .status(0))
        #expect(try after.json()["current"] == true)
        #expect(try states(after) == Array(repeating: "applied", count: files.count))

        let again = try installation.tool("migrate", "up")
        #expect(again.exit == .status(0))
        #expect(again.output == "nothing to do\n")
        #expect(try installation.tool("migrate", "plan").output == "-- nothing to do\n")
    }

    @Test func saysWhatItIsDoing() throws {
        let outcome = try Installation(migrated: false).tool("migrate", "up")
        #expect(outcome.exit == .status(0))
        #expect(outcome.errorOutput.hasPrefix("0001_users.sql\n  CREATE TABLE users"))
        #expect(outcome.output.wholeMatch(of: /applied [0-9]+\n/) != nil)
    }

    @Test func printsTheSchemaThatIsInTheRepository() throws {
        let installation = try Installation(migrated: false)
        _ = try installation.tool("migrate", "up")
        // The table of migrations is no migration's own.
        let outcome = try installation.tool("migrate", "schema")
        #expect(outcome.exit == .status(0))
        #expect(
            outcome.output == (try String(contentsOfFile: "\(TestDatabase.sqlDirectory)/schema.sql", encoding: .utf8)))
        #expect(try installation.tool("migrate", "schema", "--json").json()["schema"]?.string == outcome.output)
    }

    @Test func refusesAFileThatWasChangedAfterwards() throws {
        let installation = try Installation(migrated: false)
        let copy = installation.directory.file("sql")
        try FileManager.default.copyItem(atPath: TestDatabase.sqlDirectory, toPath: copy)
        let variables = ["MERGANSER_SQL_DIRECTORY": copy]
        #expect(try installation.tool("migrate", "up", setting: variables).exit == .status(0))
        let file = "\(copy)/0001_users.sql"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try (text + "\n-- one more line\n").write(toFile: file, atomically: true, encoding: .utf8)

        let status = try installation.tool("migrate", "status", "--json", setting: variables)
        #expect(status.exit == .status(1))
        #expect(try states(status).first == "changed")
        let up = try installation.tool("migrate", "up", "--json", setting: variables)
        #expect(up.exit == .status(1))
        #expect(
            try up.errorJSON()["message"]?.string?.contains("0001_users.sql was applied with another content") == true)
    }

    @Test func saysWhichFolderCannotBeRead() throws {
        let outcome = try Installation(["MERGANSER_SQL_DIRECTORY": "/nowhere"]).tool("migrate", "status", "--json")
        #expect(outcome.exit == .status(1))
        #expect(try outcome.errorJSON()["message"]?.string?.contains("/nowhere") == true)
    }

    private func states(_ status: ChildProcess.Outcome) throws -> [String] {
        try #require(try status.json()["steps"]?.array).compactMap { $0["state"]?.string }
    }
}
