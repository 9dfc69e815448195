import Foundation

extension Repository {
    /// The files below `Sources` that match a pattern in a line that is not a comment, for rules that no type can
    /// enforce.
    ///
    /// - Parameter folders: folders to leave out, with a final slash.
    /// - Returns: paths below `Sources`.
    package static func sources(
        with pattern: Regex<Substring>, outside folders: [String] = []
    ) throws -> Set<String> {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: "\(root)/Sources").filter { path in
            path.hasSuffix(".swift") && !folders.contains { path.hasPrefix($0) }
        }
        return try Set(
            paths.filter { path in
                try String(contentsOfFile: "\(root)/Sources/\(path)", encoding: .utf8).split(separator: "\n")
                    .contains { line in !line.drop { $0 == " " }.hasPrefix("//") && line.contains(pattern) }
            })
    }
}
