internal import Glibc
package import Time

/// Folders and the names in them.
package enum Folder {
    /// Makes one for its owner alone, unless there is one.
    package static func make(_ path: String) throws(FileError) {
        do throws(FileError) { try System.makeDirectory(path) } catch { if !error.isPresence { throw error } }
    }

    /// Lets a group find what it knows the names of; it can neither list nor change anything.
    package static func share(_ path: String, with group: Group) throws(FileError) {
        try System.share(try Descriptor(path, O_RDONLY | O_DIRECTORY), with: group, mode: 0o710)
    }

    /// Returns when the names in it are on disk.
    package static func synchronize(_ path: String) throws(FileError) {
        try System.synchronize(try Descriptor(path, O_RDONLY | O_DIRECTORY))
    }

    /// In no order.
    package static func names(in path: String) throws(FileError) -> [String] { try System.names(in: path) }

    /// - Returns: false when there was none.
    @discardableResult
    package static func remove(file path: String) throws(FileError) -> Bool {
        do throws(FileError) { try System.remove(path) } catch {
            if error.isAbsence { return false } else { throw error }
        }
        return true
    }

    /// When a file was written last; nil when there is none.
    package static func modificationTime(of path: String) throws(FileError) -> Timestamp? {
        do throws(FileError) {
            let time = try System.status(of: try Descriptor(path, O_RDONLY | O_NOFOLLOW)).st_mtim
            return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
        } catch {
            if error.isAbsence { return nil }
            throw error
        }
    }
}
