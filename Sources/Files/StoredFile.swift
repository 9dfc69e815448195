internal import Glibc

/// A file while it is read. Whoever removes its name does not disturb that.
package final class StoredFile: Sendable {
    private let file: Descriptor
    /// In bytes.
    package let length: Int

    /// Nil when there is none.
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
