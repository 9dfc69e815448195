import Foundation
import Migrations
import OpenSSL
import TestSupport
import Testing

struct MigrationFileTests {
    private func load(_ files: [String: String]) throws -> [Migration] {
        let folder = FileManager.default.temporaryDirectory.path + "/merganser-sql-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, content) in files { try Data(content.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) }
        return try Migration.load(directory: folder)
    }

    private func problem(_ files: [String: String]) throws -> String {
        try #require(throws: MigrationError.self) { try load(files) }.description
    }

    @Test func inOrder() throws {
        let migrations = try load([
            "0002_then.sql": "SELECT 2;\n-- compatible-since: 0\nSELECT 3;\n", "0001_first.sql": "SELECT 1;",
            "0003_last_1.sql": "-- compatible-since: 3\nSELECT 4;", "schema.sql": "garbage", "README.md": "",
        ])
        #expect(migrations.map(\.number) == [1, 2, 3])
        #expect(migrations.map(\.name) == ["first", "then", "last_1"])
        #expect(migrations.map(\.compatibleSince) == [0, 0, 3])
        #expect(migrations.map(\.statements.count) == [1, 2, 1])
        #expect(migrations[0].digest == sha256("SELECT 1;".utf8))
        #expect(migrations[2].fileName == "0003_last_1.sql")
    }

    @Test func theTableOfEachTriggerIsFound() throws {
        let statements = try Migration.load(directory: TestDatabase.sqlDirectory).flatMap(\.statements)
        let triggers = statements.filter { $0.prefix { $0 != "\n" }.contains("TRIGGER") && !$0.hasPrefix("DROP ") }
        #expect(triggers.count > 20)
        #expect(triggers.filter { Migrator.tableOfTrigger($0) == nil } == [])
        #expect(triggers.last.flatMap(Migrator.tableOfTrigger) == "revoked_access_tokens")
    }

    @Test func problems() throws {
        #expect(
            try problem(["0001_a.sql": "", "0003_b.sql": ""]) == "0003_b.sql: the next number is 0002")
        #expect(try problem(["0001_a.sql": "", "0001_b.sql": ""]) == "0001_b.sql: the next number is 0002")
        #expect(try problem(["0002_a.sql": ""]) == "0002_a.sql: the next number is 0001")
        #expect(
            try problem(["0001-a.sql": ""])
                == "0001-a.sql: a migration is named like 0007_what.sql, in lower-case letters")
        #expect(
            try problem(["0001_a.sql": "-- compatible-since: 2\n"])
                == "0001_a.sql: \"-- compatible-since: 2\" must name a number from 0 to 1")
        #expect(
            try problem(["0001_a.sql": "-- compatible-since: soon\n"])
                == "0001_a.sql: \"-- compatible-since: soon\" must name a number from 0 to 1")
        #expect(try problem([:]).hasSuffix("/0001_….sql cannot be read"))
        let error = #expect(throws: MigrationError.self) { try Migration.load(directory: "/nonexistent") }
        #expect(error?.description == "/nonexistent cannot be read")
    }
}
