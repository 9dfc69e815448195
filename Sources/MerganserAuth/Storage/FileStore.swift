public import Foundation

/// A store of files that only their owner can read, one for each item, for Linux.
///
/// A file is replaced by rename, after its content is on disk. Processes take turns by flock(2), for as long as reading
/// and writing take.
public struct FileStore: SecureStore {
    private let folder: String

    /// - Parameter folder: made with mode 0700 when first used. One that others can enter is refused, as unreadable.
    public init(folder: URL) { self.folder = folder.path }

    /// In `$XDG_STATE_HOME` or `~/.local/state`, a folder of this name.
    public init(application: String) { folder = stateFolder(of: application) }

    public func read(_ item: StoredItem) throws(StoreFault) -> Data? {
        do throws(FileFault) { return try file(item).read() } catch { throw .unreadable("\(error)") }
    }

    public func update(_ item: StoredItem, _ change: (Data?) throws(StoreFault) -> Data?) throws(StoreFault) {
        do {
            _ = try file(item).update(change)
        } catch let fault as StoreFault {
            throw fault
        } catch {
            throw .unreadable("\(error)")
        }
    }

    private func file(_ item: StoredItem) throws(FileFault) -> ReplacedFile {
        // An owner may be a URL.
        let owner = String(
            item.owner.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._~-".contains($0)) ? $0 : "_" })
        return try ReplacedFile(folder: folder, name: "\(item.kind.rawValue)-\(owner).json")
    }
}
