import Crypto
import Foundation
import MerganserClient

/// Files that belong to events, until the server has them (analytics §11). Two files each: the bytes, then a description,
/// without which the bytes count as left over.
struct AttachmentBox: Sendable {
    struct Entry: Codable, Sendable {
        var clientEventID: String
        var userID: String
        var filename: String
        var contentType: String
        var size: Int
        /// Lower-case hexadecimal.
        var sha256: String
        var isDevelopment: Bool
        /// The server's reservation, once there is one.
        var reservation: String?
        /// Milliseconds since 1970.
        var added: Int64
    }

    private let folder: URL
    /// Of all bytes, in bytes.
    private let limit: Int

    /// - Throws: if the folder cannot be made or read.
    init(folder: URL, limit: Int = 64 * 1024 * 1024) throws {
        (self.folder, self.limit) = (folder, limit)
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        removeLeftOvers()
    }

    /// Bytes that a killed process has not described. Another one may be about to describe younger ones.
    private func removeLeftOvers() {
        for file in files where file.pathExtension == "bytes" {
            let written = try? file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
            let name = file.deletingPathExtension().lastPathComponent
            if entry(name) == nil, let written, written.timeIntervalSinceNow < -86_400 { remove(name) }
        }
    }

    /// Keeps a copy.
    ///
    /// - Throws: `EventLoss.attachment` with the reason.
    func add(_ attachment: EventAttachment, event: String, user: String, isDevelopment: Bool, at milliseconds: Int64)
        throws(EventLoss)
    {
        func lost(_ reason: String) -> EventLoss { .attachment(name: attachment.name, reason: reason) }
        let bytes: Data
        switch attachment.source {
        case .data(let data): bytes = data
        case .file(let url):
            do { bytes = try Data(contentsOf: url, options: .mappedIfSafe) } catch { throw lost("\(error)") }
        }
        guard !bytes.isEmpty else { throw lost("It is empty.") }
        guard used + bytes.count <= limit else { throw lost("Attachments wait for \(limit) bytes at most.") }
        let entry = Entry(
            clientEventID: event, userID: user, filename: EventEncoder.cut(attachment.name, utf16: 255),
            contentType: attachment.contentType, size: bytes.count, sha256: SHA256.hash(data: bytes).hexadecimal,
            isDevelopment: isDevelopment, added: milliseconds)
        let name = UUID().uuidString
        do {
            try bytes.write(to: self.bytes(name), options: .atomic)
            try save(entry, name)
        } catch { throw lost("\(error)") }
    }

    /// The names of all, oldest first.
    var names: [String] {
        let entries = files.filter { $0.pathExtension == "json" }.compactMap { file -> (String, Int64)? in
            let name = file.deletingPathExtension().lastPathComponent
            return entry(name).map { (name, $0.added) }
        }
        return entries.sorted { $0.1 < $1.1 }.map(\.0)
    }

    func entry(_ name: String) -> Entry? {
        (try? Data(contentsOf: description(name))).flatMap { try? JSONDecoder().decode(Entry.self, from: $0) }
    }

    func content(_ name: String) -> Data? { try? Data(contentsOf: bytes(name), options: .mappedIfSafe) }

    /// Notes, or forgets, the server's reservation.
    func reserve(_ name: String, as reservation: String?) throws {
        guard var entry = entry(name) else { return }
        entry.reservation = reservation
        try save(entry, name)
    }

    func remove(_ name: String) {
        try? FileManager.default.removeItem(at: description(name))
        try? FileManager.default.removeItem(at: bytes(name))
    }

    private func bytes(_ name: String) -> URL { folder.appending(path: "\(name).bytes") }
    private func description(_ name: String) -> URL { folder.appending(path: "\(name).json") }

    private func save(_ entry: Entry, _ name: String) throws {
        try JSONEncoder().encode(entry).write(to: description(name), options: .atomic)
    }

    private var files: [URL] {
        (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.fileSizeKey])) ?? []
    }

    private var used: Int {
        files.reduce(0) { $0 + ((try? $1.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0) }
    }
}
