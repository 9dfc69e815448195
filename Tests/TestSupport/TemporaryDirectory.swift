import Foundation

/// A new directory whose path is short enough for Unix sockets. It is removed at the end with all its contents.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        var template = Array("/tmp/merganser-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestSupportError("mkdtemp in /tmp", code: errno) }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    package func file(_ name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try text.write(toFile: file(name), atomically: false, encoding: .utf8)
        return file(name)
    }

    package func link(_ name: String, to path: String) throws {
        try FileManager.default.createSymbolicLink(atPath: file(name), withDestinationPath: path)
    }

    package func makeDirectory(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: file(name), withIntermediateDirectories: true)
    }

    /// A file's text; empty when there is none.
    package func text(_ name: String) -> String {
        String(decoding: FileManager.default.contents(atPath: file(name)) ?? Data(), as: UTF8.self)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
