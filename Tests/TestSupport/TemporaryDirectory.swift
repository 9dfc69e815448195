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

    /// The file may be a program. Foundation would let a process that another test starts now inherit it, open for writing, and as
    /// long as that process lives, nobody could run the program (ETXTBSY).
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw TestSupportError("open \(file(name))", code: errno) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
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
