import Foundation
import TestSupport
import Testing

/// Every folder of rules and endpoints has a `README.md`. The tables that it lists are those of the SQL in the folder, and
/// the callers that it names call it.
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
                /\b(?:(?:INSERT (?:IGNORE )?|REPLACE )INTO|UPDATE(?: IGNORE)?|DELETE(?: \w+)?\s+FROM)\s+(?:JSON_TABLE[\s\S]*?STRAIGHT_JOIN\s+)?(\w+)/
            let sources = /(?:\b(?:FROM|(?:STRAIGHT_)?JOIN)\s+|from: ")(\w+)/
            // A rotation of the server key composes its statements from a list.
            let sealed = /\bSealedColumn\(\s*"(\w+)"/
            let named = text.matches(of: changes).map(\.1) + text.matches(of: sealed).map(\.1)
            let written = Set(named.map(String.init)).intersection(tables)
            let read = Set(text.matches(of: sources).map { String($0.1) }).intersection(tables)
            let readme = try Self.readme(of: folder)
            #expect(try Self.list("Writes", in: readme) == written, "\(folder.path())")
            #expect(try Self.list("Reads", in: readme) == read.subtracting(written), "\(folder.path())")
        }
    }

    /// Whoever a folder names as its caller exists, and uses a function or a type of the folder.
    @Test(arguments: contexts)
    func callersCall(target: String) throws {
        let sources = try Source.all.get()
        for folder in try Self.folders(below: target) {
            let path = folder.path().replacing(Repository.root + "/Sources/", with: "")
                .trimmingCharacters(in: ["/"])
            let offered = Set(sources.filter { $0.folder == path }.flatMap(\.declared))
            let line = try #require(
                try Self.readme(of: folder).firstMatch(of: /- Called by: (.*(?:\n  .*)*)/)?.1, "\(path)")
            for name in line.matches(of: /`([^`]+)`/).map({ String($0.1) }) {
                // `/metrics`, `replay:`
                if name.hasPrefix("/") || name.hasSuffix(":") { continue }
                let callers = try Self.files(of: name, among: sources, in: target)
                #expect(!callers.isEmpty, "\(path) names \(name), which there is not")
                #expect(callers.contains { !$0.words.isDisjoint(with: offered) }, "\(path) is not called by \(name)")
            }
        }
    }

    /// A folder of endpoints or of the same target, another target, the file of a type, or a command.
    private static func files(of name: String, among sources: [Source], in target: String) throws -> [Source] {
        for folder in ["API/\(name)", "\(target)/\(name)", name] {
            let files = sources.filter { $0.folder == folder || $0.folder.hasPrefix(folder + "/") }
            if !files.isEmpty { return files }
        }
        let files = sources.filter { $0.types.contains(name[...]) }
        if !files.isEmpty { return files }
        let command = name.split(separator: " ").last ?? ""
        let folders = sources.filter { $0.commands.contains(command) }.map(\.folder)
        return sources.filter { folders.contains($0.folder) }
    }

    /// The names in `- Writes: …`; none if there is no such line.
    private static func list(_ name: String, in readme: String) throws -> Set<String> {
        let line = readme.split(separator: "\n").first { $0.hasPrefix("- \(name): ") } ?? ""
        return Set(line.matches(of: /`(\w+)`/).map { String($0.1) })
    }
}

/// What a Swift file declares and uses.
private struct Source {
    /// Below `Sources`.
    let folder: String
    let words: Set<Substring>
    let types: Set<Substring>
    /// Types and functions.
    let declared: Set<Substring>
    /// Words of the operator's tool: `gc`.
    let commands: Set<Substring>

    static let all = Result<[Source], any Error> {
        let root = Repository.root + "/Sources"
        return try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.hasSuffix(".swift") }.map { path in
            let text = try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8).split(separator: "\n")
                .filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            return Source(folder: URL(filePath: path).deletingLastPathComponent().relativePath, text)
        }
    }

    private init(folder: String, _ text: String) {
        self.folder = folder
        let all = text.utf8.split { !isWordByte($0) }.map(Substring.init)
        words = Set(all)
        let pairs = zip(all, all.dropFirst())
        types = Set(pairs.filter { ["struct", "class", "enum", "protocol"].contains($0.0) }.map(\.1))
        declared = types.union(pairs.filter { $0.0 == "func" }.map(\.1))
        guard folder.hasPrefix("merganserctl") else {
            commands = []
            return
        }
        let named = text.matches(of: /commandName: "([a-z-]+)"/).map(\.output.1)
        let unnamed = text.matches(of: /struct (\w+): ParsableCommand/).map { $0.output.1.lowercased()[...] }
        commands = Set(named + unnamed)
    }
}

private func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: false
    }
}
