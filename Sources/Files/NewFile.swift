internal import Glibc

/// A file that is being written. It is created with this value, and removed at the end of the value's life unless it
/// was renamed.
package final class NewFile {
    private let file: Descriptor
    private var isRenamed = false

    /// - Parameter path: no file may exist there yet.
    package init(_ path: String) throws(FileError) {
        file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    }

    deinit { if !isRenamed { try? System.remove(file.path) } }

    package func append(_ bytes: [UInt8]) throws(FileError) { try System.write(bytes, to: file) }

    /// Returns when the content is on disk.
    package func synchronize() throws(FileError) { try System.synchronize(file) }

    /// Lets a group read the file.
    package func share(with group: Group) throws(FileError) { try System.share(file, with: group, mode: 0o640) }

    /// Sets its times to the epoch, so that they do not show when it was created or written.
    package func hideTimes() throws(FileError) { try System.resetTimes(of: file) }

    /// Gives the file its final name, and replaces any file that had that name. A second call changes nothing.
    ///
    /// - Parameter path: in the same file system. The name is durable once its folder is synchronized.
    package func rename(to path: String) throws(FileError) {
        if isRenamed { return }
        try System.rename(file.path, to: path)
        isRenamed = true
    }
}
