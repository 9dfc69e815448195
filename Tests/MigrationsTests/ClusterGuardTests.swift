import Foundation
import TestSupport
import Testing

/// `docs/operations.md`, "On a cluster", names the rows and indexes that carry each guard. They are in the schema.
@Suite struct ClusterGuardTests {
    @Test func everyGuardRestsOnWhatTheSchemaHas() throws {
        let text = try String(contentsOfFile: Repository.root + "/docs/operations.md", encoding: .utf8)
        let section = try #require(text.firstMatch(of: /\n## On a cluster\n(.*?\n)##/.dotMatchesNewlines())).1
        let names = section.matches(of: /\n\| [^|]+ \| [^|]+ \| ([^|]+) \|/).flatMap { row in
            row.1.matches(of: /`([\w.]+)`/).map { $0.1 }
        }
        try #require(names.count > 30)
        let schema = try String(contentsOfFile: TestDatabase.sqlDirectory + "/schema.sql", encoding: .utf8)
        let tables = schema.matches(of: /CREATE TABLE `(\w+)` \((.*?)\n\)/.dotMatchesNewlines())
        for name in names {
            let parts = name.split(separator: ".")
            let isThere =
                parts.count == 2
                ? tables.contains { $0.1 == parts[0] && $0.2.contains("\n  `\(parts[1])` ") }
                : tables.contains { $0.1 == name || $0.2.contains("UNIQUE KEY `\(name)` ") }
            #expect(isThere, "\(name)")
        }
    }
}
