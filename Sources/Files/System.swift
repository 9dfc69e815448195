internal import Glibc

/// An open file, which is closed at the end of the value's life.
final class Descriptor: Sendable {
    let number: Int32
    let path: String

    init(_ path: String, _ flags: Int32, mode: mode_t = 0) throws(FileError) {
        number = try System.check("open", path) { open(path, flags | O_CLOEXEC, mode) }
        self.path = path
    }

    /// Of the process rather than of a caller, so it is kept in a static property, which nothing ends.
    private init(number: Int32, path: String) {
        self.number = number
        self.path = path
    }

    deinit { close(number) }

    static let standardInput = Descriptor(number: STDIN_FILENO, path: "standard input")
    static let standardOutput = Descriptor(number: STDOUT_FILENO, path: "standard output")
    static let standardError = Descriptor(number: STDERR_FILENO, path: "standard error")
}

/// System calls; each returns a result or throws an error.
enum System {
    /// Repeats a call until no signal interrupts it.
    @discardableResult
    static func check<Result: SignedInteger>(
        _ call: String, _ path: String, _ run: () -> Result
    ) throws(FileError) -> Result {
        while true {
            let result = run()
            if result >= 0 { return result }
            if errno != EINTR { throw FileError(call: call, path: path, code: errno) }
        }
    }

    static func write(_ bytes: [UInt8], to file: Descriptor) throws(FileError) {
        var written = 0
        while written < bytes.count {
            written += try check("write", file.path) {
                bytes.withUnsafeBytes {
                    Glibc.write(file.number, $0.baseAddress.map { $0 + written }, $0.count - written)
                }
            }
        }
    }

    static func read(atMost count: Int, from file: Descriptor) throws(FileError) -> [UInt8] {
        var result: Swift.Result<Int, FileError> = .success(0)
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            result = Swift.Result { () throws(FileError) in
                try check("read", file.path) { Glibc.read(file.number, buffer.baseAddress, buffer.count) }
            }
            initialized = (try? result.get()) ?? 0
        }
        _ = try result.get()
        return bytes
    }

    static func status(of file: Descriptor) throws(FileError) -> stat {
        var status = stat()
        try check("fstat", file.path) { fstat(file.number, &status) }
        return status
    }

    /// - Parameter mode: the permissions, whatever the umask.
    static func share(_ file: Descriptor, with group: Group, mode: mode_t) throws(FileError) {
        // The group comes first: until then nobody else may open the file.
        try check("fchown", file.path) { fchown(file.number, uid_t.max, group.number) }
        try check("fchmod", file.path) { fchmod(file.number, mode) }
    }

    static func resetTimes(of file: Descriptor) throws(FileError) {
        let epoch = [timespec(), timespec()]
        try check("futimens", file.path) { futimens(file.number, epoch) }
    }

    static func synchronize(_ file: Descriptor) throws(FileError) {
        try check("fsync", file.path) { fsync(file.number) }
    }

    static func rename(_ path: String, to newPath: String) throws(FileError) {
        try check("rename", newPath) { Glibc.rename(path, newPath) }
    }

    static func remove(_ path: String) throws(FileError) { try check("unlink", path) { unlink(path) } }

    static func makeDirectory(_ path: String) throws(FileError) { try check("mkdir", path) { mkdir(path, 0o700) } }

    /// All names except `.` and `..`, in no particular order.
    static func names(in path: String) throws(FileError) -> [String] {
        guard let directory = opendir(path) else { throw FileError(call: "opendir", path: path, code: errno) }
        defer { closedir(directory) }
        var names: [String] = []
        while true {
            // readdir(3): only errno distinguishes an error from the end.
            errno = 0
            guard let entry = readdir(directory) else { break }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        if errno != 0 { throw FileError(call: "readdir", path: path, code: errno) }
        return names
    }
}

extension FileError {
    var isAbsence: Bool { code == ENOENT }
    var isPresence: Bool { code == EEXIST }
}
