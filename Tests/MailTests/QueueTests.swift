import JSON
import Synchronization
import TestSupport
import Testing
import Time

@testable import Mail

/// Mail that waits for its thread.
@Suite struct QueueTests {
    private let folder: TemporaryDirectory
    private let losses = Losses()
    private let time = TestClock()

    init() throws { folder = try TemporaryDirectory() }

    private final class Losses: Sendable {
        private let told = Mutex<[String]>([])
        var outcomes: [String] { told.withLock { $0 } }
        func add(_ outcome: MailQueue.Outcome) { told.withLock { $0.append(outcome.rawValue) } }
    }

    private func queue(_ sender: MailSender? = nil) throws -> MailQueue {
        let settings = MailSettings(
            sender: sender ?? .spool(folder: folder.file("spool")), from: try #require(MailAddress("id@mail.example")))
        if sender == nil { try settings.prepare() }
        return MailQueue(settings, clock: time.clock) { [losses] outcome, _ in losses.add(outcome) }
    }

    private func message(_ number: Int = 1) throws -> MailMessage {
        MailMessage(to: try #require(MailAddress("bea@example.com")), subject: "\(number)", text: "코드\n")
    }

    private func counts(_ queue: MailQueue) -> [Int] { queue.counts.map(\.count) }

    private func spooled() throws -> [JSONValue] {
        try folder.text("spool/mail.jsonl").split(separator: "\n").map { try JSONValue(json: Array($0.utf8)) }
    }

    @Test func theSpoolHasALineForEach() throws {
        let queue = try queue()
        queue.start()
        for number in 1...50 { queue.submit(try message(number), before: time.clock.now + .seconds(300)) }
        queue.stop(atMost: .seconds(30))
        let lines = try spooled()
        #expect(lines.compactMap { $0["subject"]?.string } == (1...50).map(String.init))
        #expect(
            lines[0] == [
                "at": .string(time.clock.now.iso8601), "from": "id@mail.example", "to": "bea@example.com",
                "subject": "1", "text": "코드\n",
            ])
        #expect(counts(queue) == [50, 0, 0, 0] && queue.waiting == 0)
    }

    @Test func whatHasExpiredIsNotSent() throws {
        let queue = try queue()
        queue.submit(try message(), before: time.clock.now)
        queue.submit(try message(2), before: time.clock.now + .milliseconds(1))
        #expect(queue.waiting == 2)
        queue.start()
        #expect(queue.waitUntilEmpty(atMost: .seconds(30)))
        #expect(counts(queue) == [1, 0, 1, 0])
        queue.stop(atMost: .seconds(30))
        #expect(losses.outcomes == ["expired"])
    }

    @Test func aFailureIsToldAndTheNextIsSent() throws {
        let queue = try queue(.spool(folder: folder.file("missing/spool")))
        queue.start()
        queue.submit(try message(), before: time.clock.now + .seconds(300))
        #expect(queue.waitUntilEmpty(atMost: .seconds(30)))
        try folder.makeDirectory("missing/spool")
        queue.submit(try message(), before: time.clock.now + .seconds(300))
        queue.stop(atMost: .seconds(30))
        #expect(counts(queue) == [1, 1, 0, 0] && losses.outcomes == ["failed"])
    }

    @Test func onlySoManyWait() throws {
        let queue = try queue()
        for _ in 0..<(MailQueue.capacity + 3) {
            queue.submit(try message(), before: time.clock.now + .seconds(300))
        }
        #expect(queue.waiting == MailQueue.capacity && losses.outcomes.count == 3)
        queue.start()
        queue.stop(atMost: .seconds(30))
        #expect(counts(queue) == [MailQueue.capacity, 0, 0, 3])
        queue.submit(try message(), before: time.clock.now + .seconds(300))
        #expect(counts(queue) == [MailQueue.capacity, 0, 0, 4])
    }

    /// A server that says nothing keeps nobody from stopping.
    @Test func theEndWaitsOnlySoLong() throws {
        let server = try SMTPTestServer(.none, ["--silent-at", "greeting"])
        let queue = try queue(.smtp(SMTPServer(.startTLSIfOffered, host: "127.0.0.1", port: server.port)))
        queue.start()
        for _ in 0..<3 { queue.submit(try message(), before: time.clock.now + .seconds(300)) }
        queue.stop(atMost: .milliseconds(100))
        #expect(queue.counts.allSatisfy { $0.outcome == .dropped || $0.count == 0 }, "the transfer is still under way")
        #expect(losses.outcomes == ["dropped", "dropped", "dropped"])
    }
}
