import Foundation
import Testing

/// Compares text with a file of `Golden/`, line by line. A difference is a change of the API.
func expectGolden(_ name: String, _ lines: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let golden = try String(contentsOf: folder.appending(path: "Golden/\(name)"), encoding: .utf8)
        .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    for (line, pinned) in zip(lines, golden) { #expect(line == pinned, sourceLocation: sourceLocation) }
    #expect(
        lines.count == golden.count, "now:\n\(lines.joined(separator: "\n"))\n", sourceLocation: sourceLocation)
}
