import Foundation
import MerganserClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Events that the server has not acknowledged, in files of a folder, oldest first.
///
/// - **Durable against the end of the process.** Each hand-over from memory is one write(2), so a killed process loses
///   nothing that it wrote. What it was writing is cut off by the next one.
/// - **Flushed** with fsync(2) when a segment is full and when the app asks (`persist`, `flush`, going to the background),
///   not with each write: that would wear out flash and battery for events that are sent seconds later. If the system
///   itself goes down, events since then may be lost.
/// - **Bounded** in bytes and age. The oldest segment is dropped as a whole, and its events are counted.
/// - **Shared.** Each process writes segments of its own. It adopts those that nobody writes to any more. If two send the
///   same, the server keeps one (analytics §8.3).
package struct EventQueue: ~Copyable {
    package struct Limits: Sendable {
        /// Of all segments, in bytes.
        var size: Int
        /// Of one segment, in bytes.
        var segmentSize: Int
        /// The server refuses events that are older than 30 days (analytics §8.2).
        var age: Duration

        package init(
            size: Int = 8 * 1024 * 1024, segmentSize: Int = 128 * 1024, age: Duration = .seconds(29 * 86_400)
        ) {
            (self.size, self.segmentSize, self.age) = (size, segmentSize, age)
        }
    }

    /// Records to be sent together.
    package struct Batch: Sendable {
        package var records: [ArraySlice<UInt8>]
        fileprivate var segment: String
        /// Where in the segment they are.
        fileprivate var place: Range<Int>
    }

    /// What a file's name ends with until it is whole.
    private static let unfinished = ".new"

    private let folder: String
    private let limits: Limits
    private let report: @Sendable (EventLoss) -> Void
    /// Oldest first. The one being written to is the last.
    private var segments: [Segment] = []
    private var current: SegmentFile?
    /// Up to where the server has the first segment.
    private var sent = 0

    /// - Parameter folder: exists.
    /// - Throws: `FileFault` if it cannot be read.
    package init(folder: String, limits: Limits = Limits(), report: @escaping @Sendable (EventLoss) -> Void) throws {
        (self.folder, self.limits, self.report) = (folder, limits, report)
        try adopt()
    }

    /// In bytes, of which some may have been sent.
    var size: Int { segments.reduce(0) { $0 + $1.size } }

    /// Writes records. Those that are too long are lost.
    ///
    /// - Throws: `FileFault` if none of them was written.
    package mutating func append(_ records: [[UInt8]], at milliseconds: Int64) throws {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(records.reduce(0) { $0 + $1.count + 8 })
        for record in records {
            guard record.count <= Segment.longestRecord else {
                report(.tooLong)
                continue
            }
            Segment.append(record, to: &bytes)
        }
        guard !bytes.isEmpty else { return }
        if let last = segments.last, current != nil {
            let age = Duration.milliseconds(milliseconds - (last.milliseconds ?? milliseconds))
            // A segment is as old as its first record.
            if last.size + bytes.count > limits.segmentSize || age > .seconds(86_400) { try end() }
        }
        let file = try current ?? begin(at: milliseconds)
        try file.append(bytes, at: segments[segments.count - 1].size)
        segments[segments.count - 1].size += bytes.count
        while size > limits.size, segments.count > 1 { drop { .queueFull(events: $0) } }
    }

    /// The next records to be sent; nil if there are none.
    ///
    /// - Parameters:
    ///   - count: how many at most.
    ///   - bytes: how many bytes at most, but at least one record.
    ///   - milliseconds: the time that it is at least. By it, records are too old.
    /// - Throws: `FileFault` if they cannot be read now.
    package mutating func next(atMost count: Int, bytes: Int, at milliseconds: Int64) throws -> Batch? {
        if segments.isEmpty { try adopt() }
        while let first = segments.first {
            if let begun = first.milliseconds, Duration.milliseconds(milliseconds - begun) > limits.age {
                drop { .expired(events: $0) }
                continue
            }
            let found: Segment.Records
            do {
                found = try records(of: first, from: sent, atMost: count, bytes: bytes)
            } catch {
                // Another process that adopted it, too, may have sent it.
                guard access(path(first.name), F_OK) != 0, errno == ENOENT else { throw error }
                remove()
                continue
            }
            if found.isDamaged {
                report(.damaged(bytes: first.size - found.end))
                if segments.count == 1 { current = nil }
                segments[0].size = found.end
            }
            if !found.records.isEmpty {
                return Batch(records: found.records, segment: first.name, place: sent..<found.end)
            }
            remove()
        }
        return nil
    }

    /// Forgets what the server has, or has refused.
    package mutating func remove(_ batch: Batch) {
        // It may have been dropped meanwhile.
        guard let first = segments.first, first.name == batch.segment else { return }
        sent = batch.place.upperBound
        if sent >= first.size { remove() }
    }

    /// Puts other records in the place of a batch's, each as long as the one that it replaces. Whoever is killed meanwhile
    /// leaves all of them or none. Nothing changes if another process was faster.
    ///
    /// - Throws: `FileFault` if they cannot be written now.
    package mutating func replace(_ batch: Batch, with records: [ArraySlice<UInt8>]) throws {
        // It may have been dropped meanwhile.
        guard let first = segments.first, first.name == batch.segment else { return }
        // Who writes to it has its lock.
        let own = segments.count == 1 ? current : nil
        let file = try own ?? SegmentFile(path(first.name), isNew: false)
        guard own != nil || file.lock() && file.hasItsName else { throw FileFault("lock \(first.name)") }
        let content = try file.read(from: 0, atMost: first.size)
        let (old, new) = (Segment.bytes(of: batch.records), Segment.bytes(of: records))
        guard content.count >= batch.place.upperBound, content[batch.place] == old[...], new.count == old.count else {
            return
        }
        let replacement = try newFile(
            first.name, content[..<batch.place.lowerBound] + new + content[batch.place.upperBound...])
        if own != nil { current = replacement }
    }

    /// Returns when everything is on disk.
    package mutating func synchronize() throws {
        guard let current else { return }
        try current.synchronize()
        try synchronizeFolder()
    }

    private func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Takes over the segments that nobody writes to any more.
    private mutating func adopt() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        removeUnfinished(names)
        for name in names.filter({ $0.hasSuffix(Segment.suffix) }).sorted() {
            // Another process may have sent it meanwhile.
            guard let file = try? SegmentFile(path(name), isNew: false), file.lock(), file.hasItsName else { continue }
            segments.append(Segment(name: name, size: Self.size(of: path(name))))
        }
    }

    /// Removes what killed processes left. A living one needs a moment for a file, not an hour.
    private func removeUnfinished(_ names: [String]) {
        for name in names where name.hasSuffix(Segment.suffix + Self.unfinished) {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path(name))
            guard let change = attributes?[.modificationDate] as? Date else { continue }
            if change.timeIntervalSinceNow < -3600 { unlink(path(name)) }
        }
    }

    private mutating func begin(at milliseconds: Int64) throws -> SegmentFile {
        let segment = Segment(at: milliseconds)
        let file = try newFile(segment.name)
        segments.append(segment)
        current = file
        return file
    }

    /// Makes a segment's file, or takes another's place. It gets the name that others look for when it is locked and complete.
    private func newFile(_ name: String, _ content: ArraySlice<UInt8> = []) throws -> SegmentFile {
        let temporary = path(name) + Self.unfinished
        // Of a process that was killed here.
        unlink(temporary)
        let file = try SegmentFile(temporary, isNew: true)
        if !content.isEmpty {
            try file.append(Array(content), at: 0)
            // What it takes the place of may have been flushed.
            try file.synchronize()
        }
        guard file.lock(), rename(temporary, path(name)) == 0 else { throw FileFault("rename \(name)") }
        return file
    }

    /// Ends the segment that is written to.
    private mutating func end() throws {
        try synchronize()
        current = nil
    }

    private func records(of segment: Segment, from offset: Int, atMost count: Int, bytes: Int) throws -> Segment.Records
    {
        let file = try SegmentFile(path(segment.name), isNew: false)
        let content = try file.read(from: offset, atMost: max(0, segment.size - offset))
        return Segment.records(in: content, from: offset, atMost: count, bytes: bytes)
    }

    /// Drops the oldest segment.
    private mutating func drop(_ loss: (Int) -> EventLoss) {
        let rest = try? records(of: segments[0], from: sent, atMost: .max, bytes: .max).records.count
        remove()
        if let rest, rest > 0 { report(loss(rest)) }
    }

    /// Removes the oldest segment.
    private mutating func remove() {
        if segments.count == 1 { current = nil }
        unlink(path(segments.removeFirst().name))
        sent = 0
    }

    private func synchronizeFolder() throws {
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw FileFault("open \(folder)") }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw FileFault("fsync \(folder)") }
    }

    private static func size(of path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
}
