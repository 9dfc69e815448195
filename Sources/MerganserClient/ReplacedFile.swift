package import Foundation

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A small file that is read and replaced as a whole, by several processes. Only its owner can read it.
///
/// A reader sees the old content or the new, also after a crash: new content is written under another name, flushed, and
/// renamed. Writers take turns by flock(2) on a file beside it, for as long as reading and writing take.
package struct ReplacedFile: Sendable {
    private let folder: String
    private let name: String

    /// - Parameter folder: made with mode 0700 unless it exists, and so are those that it is in. One that others can enter
    ///   is refused.
    package init(folder: String, name: String) throws(FileFault) {
        self.folder = folder
        self.name = name
        try Self.makeFolder(folder)
        var status = stat()
        guard stat(folder, &status) == 0 else { throw FileFault("stat \(folder)") }
        guard status.st_mode & 0o077 == 0 else {
            throw FileFault("\(folder): others than its owner can enter", code: 0)
        }
    }

    /// Not `FileManager`, whose folders are open to others for a moment: another process that starts then would refuse them.
    private static func makeFolder(_ path: String) throws(FileFault) {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else {
            throw FileFault("mkdir \(path)")
        }
        try makeFolder(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw FileFault("mkdir \(path)") }
    }

    private var path: String { "\(folder)/\(name)" }

    /// nil if there is none.
    package func read() throws(FileFault) -> Data? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw FileFault("open \(path)")
        }
        defer { close(file) }
        var content = Data()
        var part = [UInt8](repeating: 0, count: 16_384)
        while true {
            switch Self.again({ readBytes(file, &part) }) {
            case 0: return content
            case let count where count > 0: content.append(contentsOf: part[..<count])
            default: throw FileFault("read \(path)")
            }
        }
    }

    /// Changes the content; no other process does meanwhile.
    ///
    /// - Parameter change: gets the present content and returns the new; nil is no file. The file is written only if the
    ///   two differ.
    /// - Returns: the new content, which is on disk.
    package func update(_ change: (Data?) throws -> Data?) throws -> Data? {
        let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw FileFault("open \(path).lock") }
        // Closing it unlocks it.
        defer { close(lock) }
        guard Self.again({ Int(flock(lock, LOCK_EX)) }) == 0 else { throw FileFault("flock \(path).lock") }
        let present = try read()
        let new = try change(present)
        if new == present { return new }
        if let new { try write(new) } else if unlink(path) != 0, errno != ENOENT { throw FileFault("unlink \(path)") }
        try synchronizeFolder()
        return new
    }

    private func write(_ content: Data) throws(FileFault) {
        // Under the lock, so the name is free but for what a killed process left.
        let temporary = "\(path).new"
        unlink(temporary)
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileFault("open \(temporary)") }
        defer { close(file) }
        var rest = [UInt8](content)[...]
        while !rest.isEmpty {
            let count = Self.again { writeBytes(file, rest) }
            guard count > 0 else { throw FileFault("write \(temporary)") }
            rest = rest.dropFirst(count)
        }
        guard fsync(file) == 0 else { throw FileFault("fsync \(temporary)") }
        guard rename(temporary, path) == 0 else { throw FileFault("rename \(temporary)") }
    }

    /// The new name is durable once its folder is.
    private func synchronizeFolder() throws(FileFault) {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw FileFault("open \(folder)") }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw FileFault("fsync \(folder)") }
    }

    /// Repeats a call that a signal interrupted.
    private static func again(_ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result < 0, errno == EINTR { continue }
            return result
        }
    }
}

/// The folder of a program's state: in `$XDG_STATE_HOME` or `~/.local/state` (XDG Base Directory Specification, where a
/// path that is not absolute counts as none).
package func stateFolder(of program: String) -> String {
    let environment = ProcessInfo.processInfo.environment
    let parent = environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
    return "\(parent ?? "\(environment["HOME"] ?? NSHomeDirectory())/.local/state")/\(program)"
}

/// Gives a file the name of another one, which it replaces. Both are in one folder. Even after a crash, the name leads to
/// the old content or to the new.
package func replaceFile(_ path: String, with new: String) throws(FileFault) {
    let file = open(new, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileFault("open \(new)") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw FileFault("fsync \(new)") }
    guard rename(new, path) == 0 else { throw FileFault("rename \(new)") }
}

private func readBytes(_ file: Int32, _ buffer: inout [UInt8]) -> Int {
    buffer.withUnsafeMutableBytes { read(file, $0.baseAddress, $0.count) }
}

private func writeBytes(_ file: Int32, _ bytes: ArraySlice<UInt8>) -> Int {
    bytes.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
}

/// A system call on a file that failed.
package struct FileFault: Error, CustomStringConvertible {
    package let description: String

    /// - Parameter call: has set errno.
    package init(_ call: String) { self.init(call, code: errno) }

    init(_ call: String, code: Int32) {
        description = code == 0 ? call : "\(call): \(String(cString: strerror(code)))"
    }
}
