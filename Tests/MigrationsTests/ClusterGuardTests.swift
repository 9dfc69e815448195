import Foundation
import TestSupport
import Testing

/// `docs/operations.md`, "On a cluster", names the locks of each guard, and the rows and indexes that carry it.
@Suite struct ClusterGuardTests {
    private let locks: Set<String>
    private let carriers: [String]

    init() throws {
        let text = try String(contentsOfFile: Repository.root + "/docs/operations.md", encoding: .utf8)
        let section = try #require(text.firstMatch(of: /\n## On a cluster\n(.*?\n)##/.dotMatchesNewlines())).1
        let rows = section.matches(of: /\n\| [^|]+ \| [^|]+ \| ([^|]+) \| ([^|]+) \|/)
        func names(_ cell: Substring) -> [String] { cell.matches(of: /`([\w.]+)`/).map { String($0.1) } }
        locks = Set(rows.flatMap { names($0.1) })
        carriers = rows.flatMap { names($0.2) }
    }

    @Test func everyGuardRestsOnWhatTheSchemaHas() throws {
        try #require(carriers.count > 30)
        let schema = try String(contentsOfFile: TestDatabase.sqlDirectory + "/schema.sql", encoding: .utf8)
        let tables = schema.matches(of: /CREATE TABLE `(\w+)` \((.*?)\n\)/.dotMatchesNewlines())
        for name in carriers {
            let parts = name.split(separator: ".")
            let isThere =
                parts.count == 2
                ? tables.contains { $0.1 == parts[0] && $0.2.contains("\n  `\(parts[1])` ") }
                : tables.contains { $0.1 == name || $0.2.contains("UNIQUE KEY `\(name)` ") }
            #expect(isThere, "\(name)")
        }
    }

    /// A lock without a guard, which may hold on its own node only, and a guard without its lock.
    @Test func everyLockBelongsToAGuard() throws {
        let locking = ["FOR UPDATE", "LOCK IN SHARE MODE", "GET_LOCK"]
        var functions: [String: Set<String>] = [:]
        let files = try #require(FileManager.default.enumerator(atPath: Repository.root + "/Sources"))
        for case let path as String in files where path.hasSuffix(".swift") {
            let text = try String(contentsOfFile: Repository.root + "/Sources/" + path, encoding: .utf8)
            guard locking.contains(where: text.contains) else { continue }
            let file = String(path.split(separator: "/").last?.prefix { $0 != "." && $0 != "+" } ?? "")
            var function = file
            for line in text.split(separator: "\n") where !line.contains(/^ *\/\//) {
                if let name = line.firstMatch(of: /\bfunc (\w+)/)?.1 { function = String(name) }
                if locking.contains(where: line.contains) { functions[function, default: []].insert(file) }
            }
        }
        // By its name, and by its file, too, if another file has one of that name.
        let found = functions.flatMap { name, files in files.count == 1 ? [name] : files.map { "\($0).\(name)" } }
        #expect(locks == Set(found), "\(locks.symmetricDifference(found).sorted())")
    }
}
