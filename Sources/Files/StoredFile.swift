internal import Glibc

/// A file that is being read. Removing its name meanwhile does not disturb the reader.
package final class StoredFile: Sendable {
    private let file: Descriptor
    /// The size in bytes.
    package let length: Int

    /// nil if there is no such file.
    package init?(_ path: String) throws(FileError) {
        do throws(FileError) {
            file = try Descriptor(path, O_RDONLY | O_NOFOLLOW)
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
        length = Int(try System.status(of: file).st_size)
    }

    /// The next part; empty exactly at the end.
    package func read(atMost count: Int) throws(FileError) -> [UInt8] { try System.read(atMost: count, from: file) }
}
