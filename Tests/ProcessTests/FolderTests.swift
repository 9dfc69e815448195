import Foundation
import TestSupport
import Testing

/// Every folder of rules and endpoints has a `README.md`. The tables that it lists are those of the SQL in the folder.
@Suite struct FolderTests {
    private static let contexts = ["Accounts", "Analytics", "AnalyticsJobs"]

    /// Folders that hold Swift files, below those of the contexts and of the endpoints.
    private static func folders(below target: String) throws -> [URL] {
        let root = URL(filePath: Repository.root + "/Sources/\(target)")
        let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
        let folders = Set((files ?? []).filter { $0.pathExtension == "swift" }.map { $0.deletingLastPathComponent() })
        return folders.filter { $0.lastPathComponent != target || target == "AnalyticsJobs" }
    }

    private static func readme(of folder: URL) throws -> String {
        try String(contentsOf: folder.appending(path: "README.md"), encoding: .utf8)
    }

    @Test(arguments: contexts + ["API"])
    func everyFolderSaysWhatItOwns(target: String) throws {
        let folders = try Self.folders(below: target)
        #expect(!folders.isEmpty)
        for folder in folders {
            let readme = try Self.readme(of: folder)
            #expect(readme.hasPrefix("# \(folder.lastPathComponent)\n\n"), "\(folder.path())")
            #expect(readme.split(separator: "\n").count <= 16, "\(folder.path()): ten lines, and a few for lists")
        }
    }

    @Test(arguments: contexts)
    func tablesAreThoseOfTheSQL(target: String) throws {
        let schema = try String(contentsOfFile: Repository.root + "/sql/schema.sql", encoding: .utf8)
        let tables = Set(schema.matches(of: /CREATE TABLE `?(\w+)`?/).map { String($0.1) })
        for folder in try Self.folders(below: target) {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path()).filter {
                $0.hasSuffix(".swift")
            }
            let text = try names.map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
                .joined(separator: "\n").replacing(/(?m)^\s*\/\/.*$/, with: "")
            // Of a statement that changes several tables the first counts; rows that come as JSON are no table.
            let changes =
                /\b(?:INSERT (?:IGNORE )?INTO|UPDATE|DELETE(?: \w+)?\s+FROM)\s+(?:JSON_TABLE[\s\S]*?STRAIGHT_JOIN\s+)?(\w+)/
            let sources = /(?:\b(?:FROM|(?:STRAIGHT_)?JOIN)\s+|from: ")(\w+)/
            let written = Set(text.matches(of: changes).map { String($0.1) }).intersection(tables)
            let read = Set(text.matches(of: sources).map { String($0.1) }).intersection(tables)
            let readme = try Self.readme(of: folder)
            #expect(try Self.list("Writes", in: readme) == written, "\(folder.path())")
            #expect(try Self.list("Reads", in: readme) == read.subtracting(written), "\(folder.path())")
        }
    }

    /// The names in `- Writes: …`; none if there is no such line.
    private static func list(_ name: String, in readme: String) throws -> Set<String> {
        let line = readme.split(separator: "\n").first { $0.hasPrefix("- \(name): ") } ?? ""
        return Set(line.matches(of: /`(\w+)`/).map { String($0.1) })
    }
}
