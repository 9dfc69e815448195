import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAnalytics

/// The queue on disk.
@Suite struct EventQueueTests {
    private let directory: TemporaryDirectory
    private let losses = Locked<[EventLoss]>([])
    private let now: Int64 = 1_800_000_000_000

    init() throws { directory = try TemporaryDirectory() }

    private func open(_ limits: EventQueue.Limits = .init()) throws -> EventQueue {
        try EventQueue(folder: directory.path, limits: limits) { [losses] loss in losses.withLock { $0.append(loss) } }
    }

    private func record(_ text: String) -> [UInt8] { Array(text.utf8) }

    private var segments: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: directory.path)
                .filter { $0.hasSuffix(".events") }.sorted()
        }
    }

    /// Everything that is left, in order.
    private func rest(of queue: inout EventQueue, atMost count: Int = 100) throws -> [String] {
        var texts: [String] = []
        while let batch = try queue.next(atMost: count, bytes: 1 << 20, at: now) {
            texts += batch.records.map { String(decoding: $0, as: UTF8.self) }
            queue.remove(batch)
        }
        return texts
    }

    @Test func recordsComeInOrderAndLeaveWhenRemoved() throws {
        var queue = try open()
        try queue.append((0..<250).map { record("\($0)") }, at: now)
        let first = try #require(try queue.next(atMost: 100, bytes: 1 << 20, at: now))
        #expect(first.records.count == 100)
        // What was not removed comes again.
        #expect(try queue.next(atMost: 100, bytes: 1 << 20, at: now)?.records == first.records)
        queue.remove(first)
        #expect(try rest(of: &queue) == (100..<250).map { "\($0)" })
        #expect(queue.size == 0)
        #expect(try segments.isEmpty)
        try queue.append([record("later")], at: now)
        #expect(try rest(of: &queue) == ["later"])
        #expect(losses.withLock { $0 } == [])
    }

    @Test func aBatchKeepsToItsBytes() throws {
        var queue = try open()
        try queue.append([record("aaaa"), record("bbbb"), record(String(repeating: "c", count: 1000))], at: now)
        let batch = try #require(try queue.next(atMost: 100, bytes: 24, at: now))
        #expect(batch.records.count == 2)
        queue.remove(batch)
        // One that is larger goes alone.
        #expect(try queue.next(atMost: 100, bytes: 24, at: now)?.records.count == 1)
    }

    @Test func theNextProcessAdoptsWhatIsLeft() throws {
        do {
            var queue = try open()
            try queue.append([record("1"), record("2")], at: now)
            // A process that lives keeps its segment.
            var other = try open()
            #expect(try rest(of: &other) == [])
            try queue.append([record("3")], at: now)
        }
        var queue = try open()
        #expect(try rest(of: &queue) == ["1", "2", "3"])
        #expect(try segments.isEmpty)
    }

    /// A process may end at every byte of a write.
    @Test func whatIsTornOffIsCut() throws {
        do {
            var queue = try open()
            try queue.append([record("first"), record("second")], at: now)
        }
        let name = try #require(try segments.first)
        let whole = try Data(contentsOf: URL(filePath: directory.file(name)))
        for length in 0..<whole.count {
            losses.withLock { $0 = [] }
            try whole.prefix(length).write(to: URL(filePath: directory.file(name)))
            var queue = try open()
            let left = try rest(of: &queue)
            let kept = length < 13 ? 0 : 1
            #expect(left == Array(["first", "second"].prefix(kept)))
            let torn = length - kept * 13
            #expect(losses.withLock { $0 } == (torn > 0 ? [.damaged(bytes: torn)] : []))
            #expect(try segments.isEmpty)
        }
    }

    @Test func aFlippedBitEndsTheSegment() throws {
        do {
            var queue = try open()
            try queue.append([record("first"), record("second"), record("third")], at: now)
        }
        let name = try #require(try segments.first)
        let whole = try Data(contentsOf: URL(filePath: directory.file(name)))
        // The length, the checksum and the text of the second record.
        for index in 13..<27 {
            var bytes = whole
            bytes[index] ^= 0x40
            try bytes.write(to: URL(filePath: directory.file(name)))
            losses.withLock { $0 = [] }
            var queue = try open()
            #expect(try rest(of: &queue) == ["first"])
            #expect(losses.withLock { $0 } == [.damaged(bytes: whole.count - 13)])
        }
    }

    @Test func theOldestSegmentsMakeRoom() throws {
        var queue = try open(.init(size: 10_000, segmentSize: 1000))
        for number in 0..<100 { try queue.append([record("\(number) " + String(repeating: "x", count: 400))], at: now) }
        #expect(queue.size <= 10_000)
        let left = try rest(of: &queue).compactMap { Int($0.prefix { $0 != " " }) }
        #expect(left == Array((100 - left.count)..<100))
        let dropped = losses.withLock { losses in
            losses.reduce(0) { if case .queueFull(let events) = $1 { $0 + events } else { $0 } }
        }
        #expect(dropped == 100 - left.count)
    }

    /// The server would refuse them.
    @Test func whatIsTooOldIsDropped() throws {
        var queue = try open(.init(segmentSize: 20))
        try queue.append([record("old one"), record("old two")], at: now - 30 * 86_400_000)
        try queue.append([record("a young one")], at: now - 28 * 86_400_000)
        #expect(try rest(of: &queue) == ["a young one"])
        #expect(losses.withLock { $0 } == [.expired(events: 2)])
    }

    /// A process that runs for a month without a network loses only what is that old.
    @Test func whatIsYoungStaysBesideTheOld() throws {
        var queue = try open()
        let day: Int64 = 86_400_000
        try queue.append([record("old one")], at: now - 30 * day)
        try queue.append([record("young one")], at: now - 28 * day)
        try queue.append([record("young two")], at: now - 27 * day - 1)
        #expect(try rest(of: &queue) == ["young one", "young two"])
        #expect(losses.withLock { $0 } == [.expired(events: 1)])
    }

    /// What a process had not finished when it was killed.
    @Test func whatWasNeverWholeGoesAway() throws {
        for (name, age) in [("old", 7200.0), ("young", 60)] {
            let path = directory.file("000000000000001-\(name).events.new")
            try Data([1, 2, 3]).write(to: URL(filePath: path))
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
        }
        _ = try open()
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(left.map { $0.contains("young") } == [true])
    }

    @Test func whatIsReplacedStays() throws {
        do {
            var queue = try open()
            try queue.append(["a1", "a2", "a3", "a4"].map(record), at: now)
            let first = try #require(try queue.next(atMost: 1, bytes: 99, at: now))
            queue.remove(first)
            let batch = try #require(try queue.next(atMost: 2, bytes: 99, at: now))
            try queue.replace(batch, with: [batch.records[0], record("b3")[...]])
            // It is still this process's, who goes on writing to it.
            try queue.append([record("a5")], at: now)
            var other = try open()
            #expect(try rest(of: &other) == [])
            let left = try #require(try queue.next(atMost: 9, bytes: 99, at: now)).records
            #expect(left.map { String(decoding: $0, as: UTF8.self) } == ["a2", "b3", "a4", "a5"])
        }
        var queue = try open()
        #expect(try rest(of: &queue) == ["a1", "a2", "b3", "a4", "a5"])
        #expect(losses.withLock { $0 } == [])
        #expect(try segments.isEmpty)
    }

    /// Two processes have adopted the same: what the first one makes of it is what both send.
    @Test func theFirstToReplaceDecides() throws {
        do {
            var queue = try open()
            try queue.append(["a1", "a2"].map(record), at: now)
        }
        var one = try open()
        var other = try open()
        let batches = [
            try #require(try one.next(atMost: 1, bytes: 99, at: now)),
            try #require(try other.next(atMost: 1, bytes: 99, at: now)),
        ]
        try one.replace(batches[0], with: [record("b1")[...]])
        try other.replace(batches[1], with: [record("c1")[...]])
        #expect(try rest(of: &other) == ["b1", "a2"])
        #expect(try rest(of: &one) == [])
        #expect(losses.withLock { $0 } == [])
    }

    /// A process was killed before its replacement was complete: what was there goes on.
    @Test func halfAReplacementIsNone() throws {
        do {
            var queue = try open()
            try queue.append(["a1", "a2"].map(record), at: now)
        }
        let segment = try #require(try segments.first)
        let half = try #require(FileManager.default.contents(atPath: "\(directory.path)/\(segment)")).dropLast(3)
        try half.write(to: URL(filePath: "\(directory.path)/\(segment).new"))
        var queue = try open()
        let batch = try #require(try queue.next(atMost: 1, bytes: 99, at: now))
        try queue.replace(batch, with: [record("b1")[...]])
        #expect(try rest(of: &queue) == ["b1", "a2"])
        #expect(losses.withLock { $0 } == [])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func aRecordThatIsTooLongIsLostAlone() throws {
        var queue = try open()
        try queue.append([record("1"), Array(repeating: 65, count: 300_000), record("2")], at: now)
        #expect(try rest(of: &queue) == ["1", "2"])
        #expect(losses.withLock { $0 } == [.tooLong])
    }

    @Test func aBatchThatWasDroppedMeanwhileRemovesNothingElse() throws {
        var queue = try open(.init(size: 1000, segmentSize: 300))
        try queue.append([record("first" + String(repeating: "x", count: 250))], at: now)
        let batch = try #require(try queue.next(atMost: 100, bytes: 1 << 20, at: now))
        for number in 0..<5 {
            try queue.append([record("\(number)" + String(repeating: "x", count: 250))], at: now + 1)
        }
        let left = queue.size
        queue.remove(batch)
        #expect(queue.size == left)
    }

    /// The disk is full, or the folder is gone: nothing is lost that was there, and the next write may succeed.
    @Test func aWriteThatFailsLeavesTheRest() throws {
        let folder = directory.file("folder")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        var queue = try EventQueue(folder: folder) { _ in }
        try FileManager.default.removeItem(atPath: folder)
        #expect(throws: FileFault.self) { try queue.append([record("1")], at: now) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try queue.append([record("2")], at: now)
        #expect(try queue.next(atMost: 9, bytes: 99, at: now)?.records.count == 1)
    }
}
