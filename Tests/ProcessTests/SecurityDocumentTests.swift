import Foundation
import TestSupport
import Testing

/// `docs/security.md` covers the RFCs and all limits, and the tests that it names exist.
@Suite struct SecurityDocumentTests {
    @Test(arguments: [
        (
            "RFC 9700",
            ["2.1", "2.1.1", "2.1.2", "2.2.1", "2.2.2", "2.3", "2.4", "2.5", "2.6"] + (1...17).map { "4.\($0)" }
        ),
        ("RFC 8725", (1...12).map { "3.\($0)" }),
    ])
    func everySectionIsGoneThrough(rfc: String, sections: [String]) throws {
        let named = try rows(of: rfc).flatMap {
            $0[0].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(Set(named) == Set(sections))
    }

    @Test(arguments: ["RFC 9700", "RFC 8725", "The console", "Resource limits"])
    func everyLineNamesTestsThatExist(rfc: String) throws {
        for row in try rows(of: rfc) {
            let names = (row.last ?? "").matches(of: /`(\w+)\.(\w+)`/)
            #expect(!names.isEmpty, "\(row[0]) names no test")
            for name in names {
                let (_, suite, function) = name.output
                let sources = try sources(of: String(suite))
                #expect(
                    sources.contains { $0.contains("func \(function)(") || $0.contains("def \(function)(") },
                    "there is no \(suite).\(function)")
            }
        }
    }

    /// The cells of the table below a heading, row by row.
    private func rows(of heading: String) throws -> [[String]] {
        let document = try String(contentsOfFile: Repository.root + "/docs/security.md", encoding: .utf8)
        let part = try #require(document.components(separatedBy: "\n## ").first { $0.hasPrefix(heading) })
        let rows = part.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst()
        try #require(!rows.isEmpty)
        return rows.map { row in
            row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The texts of a suite's files: `Suite.swift`, `Suite+Topic.swift`, `suite.py`.
    private func sources(of suite: String) throws -> [String] {
        let tests = URL(filePath: Repository.root + "/Tests")
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)?.compactMap {
            $0 as? URL
        }
        return try (files ?? [])
            .filter { ["swift", "py"].contains($0.pathExtension) }
            .filter { $0.lastPathComponent.prefix { $0 != "+" && $0 != "." } == suite }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }
}
