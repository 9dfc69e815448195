internal import Glibc

/// A file while it is written: made with it, and removed at the end of its life unless it was renamed.
package final class NewFile {
    private let file: Descriptor
    private var isRenamed = false

    /// - Parameter path: nothing may be there yet.
    package init(_ path: String) throws(FileError) {
        file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    }

    deinit { if !isRenamed { try? System.remove(file.path) } }

    package func append(_ bytes: [UInt8]) throws(FileError) { try System.write(bytes, to: file) }

    /// Returns when the content is on disk.
    package func synchronize() throws(FileError) { try System.synchronize(file) }

    /// Lets a group read it.
    package func share(with group: Group) throws(FileError) { try System.share(file, with: group, mode: 0o640) }

    /// Has its times say nothing of when it was made or written: they are the epoch's.
    package func hideTimes() throws(FileError) { try System.resetTimes(of: file) }

    /// Gives it the name it stays under, in place of what had that name. Another call changes nothing.
    ///
    /// - Parameter path: in the same file system. The name lasts once its folder is synchronized.
    package func rename(to path: String) throws(FileError) {
        if isRenamed { return }
        try System.rename(file.path, to: path)
        isRenamed = true
    }
}
