internal import Glibc

/// A system call on a file failed.
///
/// This target owns durable files: it creates, writes, synchronizes and renames them with POSIX calls, without
/// Foundation, and without pointers in its interface. It also owns the standard streams. It does not know what the files hold.
package struct FileError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The C function.
    package let call: String
    package let path: String
    /// Its `errno`.
    package let code: Int32

    package init(call: String, path: String, code: Int32) {
        self.call = call
        self.path = path
        self.code = code
    }

    package var description: String { "\(call) \(path): \(String(cString: strerror(code)))" }
}
