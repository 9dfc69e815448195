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

    /// Keeps a copy. If there is no room, the oldest make some.
    ///
    /// - Parameter report: is told of those that are lost for it.
    /// - Returns: its name in the box.
    /// - Throws: `EventLoss.attachment` with the reason.
    func add(
        _ attachment: EventAttachment, event: String, user: String, isDevelopment: Bool, at milliseconds: Int64,
        _ report: (EventLoss) -> Void
    ) throws(EventLoss) -> String {
        let name = UUID().uuidString
        do {
            let (size, digest) = try copy(attachment.source, to: bytes(name))
            guard size > 0 else { throw Unfit("It is empty.") }
            makeRoom(for: size, report)
            let entry = Entry(
                clientEventID: event, userID: user, filename: EventEncoder.cut(attachment.name, utf16: 255),
                contentType: attachment.contentType, size: size, sha256: digest, isDevelopment: isDevelopment,
                added: milliseconds)
            try save(entry, name)
            return name
        } catch {
            remove(name)
            throw .attachment(name: attachment.name, reason: "\(error)")
        }
    }

    /// Why a file is not kept.
    private struct Unfit: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private var isTooMuch: Unfit { Unfit("Attachments wait for \(limit) bytes at most.") }

    /// Copies in parts, and takes the digest of what it copies: the app may change its file meanwhile.
    ///
    /// - Returns: the number of bytes, and their SHA-256.
    private func copy(_ source: EventAttachment.Source, to file: URL) throws -> (size: Int, sha256: String) {
        switch source {
        case .data(let data):
            guard data.count <= limit else { throw isTooMuch }
            try data.write(to: file)
            return (data.count, SHA256.hash(data: data).hexadecimal)
        case .file(let url):
            let input = try FileHandle(forReadingFrom: url)
            defer { try? input.close() }
            try Data().write(to: file)
            let output = try FileHandle(forWritingTo: file)
            defer { try? output.close() }
            var (size, digest) = (0, SHA256())
            while let part = try input.read(upToCount: 256 * 1024), !part.isEmpty {
                size += part.count
                guard size <= limit else { throw isTooMuch }
                digest.update(data: part)
                try output.write(contentsOf: part)
            }
            return (size, digest.finalize().hexadecimal)
        }
    }

    /// Removes the oldest until a new one fits. Bytes without a description do not count: nobody could remove them here.
    private func makeRoom(for size: Int, _ report: (EventLoss) -> Void) {
        let entries = entries
        var used = entries.reduce(size) { $0 + $1.entry.size }
        for (name, entry) in entries where used > limit {
            remove(name)
            report(.attachment(name: entry.filename, reason: isTooMuch.description))
            used -= entry.size
        }
    }

    /// The names of all, oldest first.
    var names: [String] { entries.map(\.name) }

    /// Oldest first.
    private var entries: [(name: String, entry: Entry)] {
        let entries = files.filter { $0.pathExtension == "json" }.compactMap { file -> (name: String, entry: Entry)? in
            let name = file.deletingPathExtension().lastPathComponent
            return entry(name).map { (name, $0) }
        }
        return entries.sorted { $0.entry.added < $1.entry.added }
    }

    func entry(_ name: String) -> Entry? {
        (try? Data(contentsOf: description(name))).flatMap { try? JSONDecoder().decode(Entry.self, from: $0) }
    }

    /// The bytes; nil if they are gone.
    func file(_ name: String) -> URL? {
        FileManager.default.fileExists(atPath: bytes(name).path) ? bytes(name) : nil
    }

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
        (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    }
}
