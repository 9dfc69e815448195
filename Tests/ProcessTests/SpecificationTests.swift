import Foundation
import TestSupport
import Testing

/// The code cites `docs/spec`. All cited sections exist, every link leads somewhere, and the words and types of the
/// glossary exist.
@Suite struct SpecificationTests {
    @Test(arguments: Specification.allCases)
    func everyNumberedSectionHasTheAnchorOfItsNumber(specification: Specification) throws {
        let lines = try String(contentsOfFile: specification.path, encoding: .utf8).components(separatedBy: "\n")
        let headings = lines.filter { $0.hasPrefix("## <a") || $0.hasPrefix("### <a") }
        try #require(headings.count > 10)
        for heading in headings {
            let match = try #require(heading.wholeMatch(of: /##+ <a id="([a-z0-9.-]+)"><\/a>(\S+ ?[A-Z0-9]?).*/))
            let (number, anchor) = (Citation.section(match.output.2) ?? "", match.output.1)
            #expect(Citation.section(ofAnchor: String(anchor)) == number, "\(heading)")
        }
        let anchors = try MarkdownFile(path: specification.path).anchors
        #expect(Set(anchors).count == anchors.count, "an anchor stands twice in \(specification.path)")
        // A heading of the second level without an anchor would be a section that nobody can cite.
        let others = lines.filter { $0.wholeMatch(of: /##+ \d.*/) != nil }
        #expect(others.isEmpty)
    }

    @Test func everySectionThatIsCitedExists() throws {
        let sections = try Specification.sections()
        var count = 0
        for path in try Repository.textFiles() {
            for citation in try Citation.all(in: String(contentsOfFile: path, encoding: .utf8), path: path) {
                count += 1
                let isThere = citation.specification.map { sections[$0]?.contains(citation.section) == true } ?? false
                #expect(isThere, "\(path) cites \(citation): \(citation.context)")
            }
        }
        #expect(count > 400)
    }

    @Test(arguments: [
        ("/// Signs in (accounts §1.6).", ["accounts 1.6"]),
        ("/// Signs in (accounts §1.6,\n    /// §1.8 and §1.9).", ["accounts 1.6", "accounts 1.8", "accounts 1.9"]),
        ("# what the tool does (analytics\n# §14.2).", ["analytics 14.2"]),
        ("RFC 6749 §5.2, §4.1 and accounts §9.9", ["accounts 9.9"]),
        ("-- RFC 7636 §4.1; analytics §8.1, checks 1 and 2; §9.", ["analytics 8.1", "analytics 9"]),
        ("What is refused (accounts Annex C), of accounts, Stage 2", ["accounts Annex C", "accounts Stage 2"]),
        ("The sum of §7.3", ["nobody's 7.3"]),
    ])
    func citationsAreFound(text: String, citations: [String]) {
        #expect(Citation.all(in: text, path: "scripts/x").map(\.description).sorted() == citations.sorted())
    }

    @Test func aBareSectionIsOfTheFoldersSpecification() {
        let path = { Repository.root + "/" + $0 }
        #expect(Citation.all(in: "(§4.4)", path: path("Sources/Analytics/A.swift")).first?.specification == .analytics)
        #expect(Citation.all(in: "(§4.4)", path: path("Sources/Accounts/A.swift")).first?.specification == .accounts)
        #expect(Citation.all(in: "(§4.4)", path: path("docs/spec/accounts.md")).first?.specification == .accounts)
    }

    @Test func everyLinkLeadsSomewhere() throws {
        let documents = try Repository.files(under: "docs").filter { $0.hasSuffix(".md") }
        let files = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] + documents
        var anchors: [String: [String]] = [:]
        var count = 0
        for file in files.map({ Repository.root + "/" + $0 }) {
            for link in try MarkdownFile(path: file).internalLinks {
                count += 1
                let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                let folder = URL(filePath: file).deletingLastPathComponent()
                let target = parts[0].isEmpty ? file : folder.appending(path: parts[0]).standardized.path()
                let isThere = FileManager.default.fileExists(atPath: target)
                #expect(isThere, "\(file) links to \(link), which there is not")
                guard isThere, parts.count == 2 else { continue }
                if anchors[target] == nil { anchors[target] = try MarkdownFile(path: target).anchors }
                #expect(anchors[target]?.contains(parts[1]) == true, "\(file) links to \(link): no such anchor")
            }
        }
        #expect(count > 100)
    }

    @Test func headingsHaveTheAnchorsThatGitHubGivesThem() {
        let file = MarkdownFile(
            """
            # A `code`, and [a link](x.md)!
            ## A B
            ## A B
            ```
            # none
            ```
            ## <a id="s-1"></a>1. C
            """)
        #expect(file.anchors == ["a-code-and-a-link", "a-b", "a-b-1", "s-1", "1-c"])
    }

    @Test func everyWordOfTheGlossaryIsUsed() throws {
        var texts = try Specification.allCases.map { try String(contentsOfFile: $0.path, encoding: .utf8) }
        texts += try Repository.sources()
        let all = texts.joined(separator: "\n").lowercased()
        let entries = try Glossary.entries()
        #expect(entries.count > 50)
        for word in entries.flatMap(\.words) {
            let isUsed = all.contains(word.lowercased())
            #expect(isUsed, "neither the specification nor the code says \"\(word)\"")
        }
    }

    @Test func everyTypeInTheGlossaryIsDeclared() throws {
        let declared = try Set(Repository.sources().flatMap(declaredTypes))
        try #require(declared.contains("User"))
        for entry in try Glossary.entries() {
            for type in entry.types {
                let isDeclared = type.split(separator: ".").allSatisfy { declared.contains(String($0)) }
                #expect(isDeclared, "\(entry.words): there is no type \(type)")
            }
        }
    }

    private func declaredTypes(_ source: String) -> [String] {
        let words = source.utf8.split { $0 <= UInt8(ascii: " ") }.map(Substring.init)
        let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias"]
        return zip(words, words.dropFirst()).filter { kinds.contains($0.0) }
            .map { String($0.1.prefix { $0.isLetter || $0.isNumber }) }
    }
}

/// A document whose sections are cited.
enum Specification: String, CaseIterable, Sendable {
    case accounts, analytics, client, fleet

    var path: String { "\(Repository.root)/docs/spec/\(rawValue).md" }

    /// The sections that may be cited: `2.3`, `Stage 3`, `Annex A`.
    static func sections() throws -> [Specification: Set<String>] {
        try Dictionary(
            uniqueKeysWithValues: allCases.map { specification in
                let anchors = try MarkdownFile(path: specification.path).anchors
                return (specification, Set(anchors.compactMap(Citation.section(ofAnchor:))))
            })
    }
}

/// The citation of a section, as in `accounts §1.6`. Sections of other standards do not count.
private struct Citation: CustomStringConvertible {
    /// Nil if the text does not name the document.
    let specification: Specification?
    let section: String
    let context: String

    var description: String { "\(specification?.rawValue ?? "nobody's") \(section)" }

    private enum Source {
        case ours(Specification?)
        case anothers
    }

    /// All citations of a file's text, even if a line break and a comment mark separate the words.
    static func all(in text: String, path: String) -> [Citation] {
        guard text.contains("§") || text.contains("Annex") || text.contains("Stage") else { return [] }
        let plain = text.components(separatedBy: "\n").map(withoutMark).joined(separator: " ")
            .replacing("Annex ", with: "§Annex ").replacing("accounts Stage ", with: "accounts §Stage ")
            .replacing("accounts, Stage ", with: "accounts, §Stage ")
        var citations: [Citation] = []
        var source: Source?
        var isFirst = true
        var before = ""
        for piece in plain.components(separatedBy: "§") {
            defer { before = piece }
            if isFirst {
                isFirst = false
                continue
            }
            guard let section = section(piece[...]) else { continue }
            let own = self.source(of: section, after: before, previous: source, path: path)
            source = own
            guard case .ours(let specification) = own else { continue }
            citations.append(
                Citation(
                    specification: specification, section: section,
                    context: "\(before.suffix(40))§\(piece.prefix(12))"))
        }
        return citations
    }

    /// `2.3` at the start of a text; nil if there is no number.
    static func section(_ text: Substring) -> String? {
        if let match = text.prefixMatch(of: /(Annex [A-Z]|Stage \d)/) { return String(match.output.1) }
        return text.prefixMatch(of: /\ ?(\d+(?:\.\d+)*)/).map { String($0.output.1) }
    }

    static func section(ofAnchor anchor: String) -> String? {
        if let match = anchor.wholeMatch(of: /s-([\d.]+)/) { return String(match.output.1) }
        if let match = anchor.wholeMatch(of: /(stage|annex)-(.)/) {
            return "\(match.output.1.capitalized) \(match.output.2.uppercased())"
        }
        return nil
    }

    private static func withoutMark(_ line: String) -> String {
        let line = line.trimmingCharacters(in: .whitespaces)
        let mark = ["///", "//", "--", "#", ">", "*"].first { line.hasPrefix($0) } ?? ""
        return line.dropFirst(mark.count).trimmingCharacters(in: .whitespaces)
    }

    /// - Parameters:
    ///   - before: the text since the section before, its number included.
    ///   - previous: of what that was; nil for the first one.
    private static func source(of section: String, after before: String, previous: Source?, path: String) -> Source {
        let end = before.suffix(60)
        if let match = end.firstMatch(of: /([Aa]ccounts|[Aa]nalytics|[Cc]lient|[Ff]leet),? \[?$/) {
            return .ours(Specification(rawValue: match.output.1.lowercased()))
        }
        let standards = [
            /(RFC \d+|FIPS [\d-]+|SEC \d|UAX #\d+|WHATWG URL|Fetch|Level 3),? $/,
            /(Connect Core|Connect Discovery 1\.0|FastCGI specification(?: 1\.0)?),? $/,
        ]
        if standards.contains(where: { end.firstMatch(of: $0) != nil }) { return .anothers }
        // "§1.9 step 9, §3.3", "§8.1, checks 1 and 2; §9"
        let further = /[\d.]+(Annex .)?,?( (step|check|guarantee)s? [\d, and]*\d)?[,;]?( and| to|, but for)? ?/
        if let previous, before.wholeMatch(of: further) != nil { return previous }
        return .ours(specification(of: path, for: section))
    }

    private static func specification(of path: String, for section: String) -> Specification? {
        let path = path.replacing(Repository.root + "/", with: "")
        let folders: [(String, Specification)] = [
            ("Sources/Accounts/", .accounts), ("Sources/Analytics/", .analytics),
            ("Sources/AnalyticsJobs/", .analytics),
            ("Tests/APITests/Analytics/", .analytics), ("docs/spec/accounts.md", .accounts),
            ("docs/spec/analytics.md", .analytics), ("docs/spec/client.md", .client),
            ("docs/spec/fleet.md", .fleet),
        ]
        // Only one of them has annexes.
        return folders.first { path.hasPrefix($0.0) }?.1 ?? (section.hasPrefix("Annex") ? .accounts : nil)
    }
}

/// The part of a Markdown text that links need.
private struct MarkdownFile {
    /// In order: explicit anchors, and those that GitHub makes for headings.
    private(set) var anchors: [String] = []
    /// Paths and fragments, not URLs.
    private(set) var internalLinks: [String] = []

    init(path: String) throws { self.init(try String(contentsOfFile: path, encoding: .utf8)) }

    init(_ text: String) {
        var isCode = false
        var slugs: [String: Int] = [:]
        for line in text.components(separatedBy: "\n") {
            if line.trimmingCharacters(in: .whitespaces).hasPrefix("```") { isCode.toggle() }
            if isCode { continue }
            if line.contains("<a id=") {
                anchors += line.matches(of: /<a id="([^"]+)">/).map { String($0.output.1) }
            }
            if line.hasPrefix("#") {
                let slug = Self.slug(line)
                anchors.append(slugs[slug].map { "\(slug)-\($0)" } ?? slug)
                slugs[slug, default: 0] += 1
            }
            if line.contains("](") {
                internalLinks += line.replacing(/`[^`]*`/, with: "").matches(of: /\]\(([^)\s]+)\)/)
                    .map { String($0.output.1) }.filter { !$0.contains("://") && !$0.hasPrefix("mailto:") }
            }
        }
    }

    private static func slug(_ heading: String) -> String {
        let text = heading.drop { $0 == "#" }.replacing(/<[^>]*>/, with: "")
            .replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
        return text.trimmingCharacters(in: .whitespaces).lowercased()
            .filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }.replacing(" ", with: "-")
    }
}

/// A line of a table of `docs/spec/glossary.md` whose first column is headed "Word".
private struct Glossary {
    let words: [String]
    /// Names in the last column that begin with a capital letter.
    let types: [String]

    static func entries() throws -> [Glossary] {
        let text = try String(contentsOfFile: Repository.root + "/docs/spec/glossary.md", encoding: .utf8)
        var isOfWords = false
        var entries: [Glossary] = []
        for line in text.components(separatedBy: "\n") {
            guard line.hasPrefix("|") else {
                isOfWords = false
                continue
            }
            let cells = line.components(separatedBy: "|").dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if cells.first == "Word" {
                isOfWords = true
            } else if isOfWords, let first = cells.first, let last = cells.last, !first.hasPrefix("-") {
                entries.append(
                    Glossary(
                        words: first.matches(of: /\*\*([^*]+)\*\*/).map { String($0.output.1) },
                        types: last.matches(of: /`([A-Z][\w.]*)`/).map { String($0.output.1) }))
            }
        }
        return entries
    }
}

extension Repository {
    /// Paths below the repository's folder.
    fileprivate static func files(under folder: String) throws -> [String] {
        let url = URL(filePath: "\(root)/\(folder)")
        let files = try #require(
            FileManager.default.enumerator(at: url, includingPropertiesForKeys: nil, options: .skipsHiddenFiles))
        return files.compactMap { ($0 as? URL)?.path() }.filter { !$0.hasSuffix("/") }
            .map { String($0.dropFirst(root.count + 1)) }
    }

    /// All files that may cite the specification.
    fileprivate static func textFiles() throws -> [String] {
        let folders = ["Sources", "Tests", "scripts", "sql", "nginx", "systemd", "docs", "Benchmarks"]
        let files = try folders.flatMap(files) + ["README.md", "CONTRIBUTING.md", "Makefile", "Package.swift"]
        return files.filter { file in
            // Inputs for fuzzers and what Python leaves behind are no texts; this suite cites what is not there.
            !["Tests/Fuzzing/Corpus/", "__pycache__", "SpecificationTests.swift"].contains(where: file.contains)
        }.map { "\(root)/\($0)" }.filter { (try? String(contentsOfFile: $0, encoding: .utf8)) != nil }
    }

    /// The texts of all Swift files of the program.
    fileprivate static func sources() throws -> [String] {
        try files(under: "Sources").filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOfFile: "\(root)/\($0)", encoding: .utf8) }
    }
}
