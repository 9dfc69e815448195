internal import Glibc
package import Time

/// Folders and the names in them.
package enum Folder {
    /// For files that nobody needs once they are closed.
    package static var temporary: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    /// Creates a folder that only its owner can use, unless it exists.
    package static func make(_ path: String) throws(FileError) {
        do throws(FileError) { try System.makeDirectory(path) } catch { if !error.isPresence { throw error } }
    }

    /// Lets a group open files whose names it knows. The group can neither list nor change anything.
    package static func share(_ path: String, with group: Group) throws(FileError) {
        try System.share(try Descriptor(path, O_RDONLY | O_DIRECTORY), with: group, mode: 0o710)
    }

    /// Returns when the names in the folder are on disk.
    package static func synchronize(_ path: String) throws(FileError) {
        try System.synchronize(try Descriptor(path, O_RDONLY | O_DIRECTORY))
    }

    /// The names in the folder, in no particular order.
    package static func names(in path: String) throws(FileError) -> [String] { try System.names(in: path) }

    /// - Returns: false if there was none.
    @discardableResult
    package static func remove(file path: String) throws(FileError) -> Bool {
        do throws(FileError) { try System.remove(path) } catch {
            if error.isAbsence { return false } else { throw error }
        }
        return true
    }

    /// When a file was last written; nil if there is no such file.
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
