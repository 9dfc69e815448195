package import Files
import OpenSSL
import Text
package import Time

/// A store in one folder. `ab/abcd…` has the stored files, `new/` the files that are still being written. If instances
/// run on several nodes, they share the folder through a network file system.
package struct AttachmentDirectory: AttachmentStore {
    private let path: String
    private let readers: Group?

    /// - Parameters:
    ///   - path: an absolute path; see `prepare`.
    ///   - readers: another group that may read stored files, but may not list or change them; nil for none.
    package init(_ path: String, readers: Group? = nil) {
        self.path = path
        self.readers = readers
    }

    /// Creates the folders, and checks that a file can be created. All folders are created at the start, so that an
    /// upload has only one folder to synchronize.
    package func prepare() throws(FileError) {
        try Folder.make(path)
        for folder in fans + [staging] { try Folder.make(folder) }
        if let readers { for folder in fans + [path] { try Folder.share(folder, with: readers) } }
        try Folder.synchronize(path)
        _ = try newFile()
    }

    package func put(atMost limit: Int64, _ next: () throws -> [UInt8]) throws -> any StagedContent {
        let file = try newFile()
        let hash = SHA256Stream()
        var size: Int64 = 0
        while size <= limit {
            let part = try next()
            if part.isEmpty { break }
            size += Int64(part.count)
            hash.update(part)
            try file.append(part)
        }
        if let readers { try file.share(with: readers) }
        try file.synchronize()
        return StagedFile(size: size, digest: ContentDigest(hash.finish()), file: file, directory: self)
    }

    package func location(of digest: ContentDigest) -> String { "\(digest.rawValue.prefix(2))/\(digest.rawValue)" }

    package func open(_ digest: ContentDigest) throws(FileError) -> StoredFile? { try StoredFile(file(digest)) }

    package func remove(_ digest: ContentDigest) throws(FileError) -> Bool { try Folder.remove(file: file(digest)) }

    package func list(_ visit: ([ContentDigest]) throws -> Void) throws {
        for fan in fans { try visit(Folder.names(in: fan).compactMap(ContentDigest.init(rawValue:))) }
    }

    package func abandoned(before time: Timestamp) throws(FileError) -> [AbandonedContent] {
        var abandoned: [AbandonedContent] = []
        for name in try Folder.names(in: staging) {
            let path = "\(staging)/\(name)"
            if let written = try Folder.modificationTime(of: path), written < time {
                abandoned.append(AbandonedContent(path: path))
            }
        }
        return abandoned
    }

    private func newFile() throws(FileError) -> NewFile {
        try NewFile("\(staging)/\(randomBytes(16).hexadecimal)")
    }

    private var staging: String { "\(path)/new" }

    /// One folder for each first byte of a digest.
    private var fans: [String] { (UInt8.min...UInt8.max).map { "\(path)/\([$0].hexadecimal)" } }

    fileprivate func fan(_ digest: ContentDigest) -> String { "\(path)/\(digest.rawValue.prefix(2))" }

    fileprivate func file(_ digest: ContentDigest) -> String { "\(path)/\(location(of: digest))" }
}

extension AttachmentDirectory {
    package init(_ settings: AttachmentSettings) { self.init(settings.directory, readers: settings.readers) }
}

private struct StagedFile: StagedContent {
    let size: Int64
    let digest: ContentDigest
    let file: NewFile
    let directory: AttachmentDirectory

    func keep() throws(FileError) {
        try file.rename(to: directory.file(digest))
        // Equal files are stored once, and a download shows the file's time. That time must not reveal when somebody
        // else sent the same file.
        try file.hideTimes()
        try Folder.synchronize(directory.fan(digest))
    }
}
