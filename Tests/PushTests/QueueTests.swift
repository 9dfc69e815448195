import JSON
import Synchronization
import TestSupport
import Testing
import Threads
import Time

@testable import Push

/// Notifications that wait for their thread.
@Suite struct QueueTests {
    private let folder: TemporaryDirectory
    private let time = TestClock()
    private let losses = Losses()

    init() throws { folder = try TemporaryDirectory() }

    private func queue(
        _ directory: any PushDirectory & Sendable = Phones(), patience: Duration = .seconds(3600)
    ) throws -> PushQueue {
        let settings = PushSettings.spool(folder: folder.file("spool"))
        try settings.prepare()
        return PushQueue(settings, clock: time.clock, patience: patience) {
            directory
        } onLoss: { [losses] outcome, _ in
            losses.add(outcome.rawValue)
        }
    }

    private func notification(_ id: Int = 1, lifetime: Duration = .seconds(180)) -> PushNotification {
        PushNotification(
            title: "T", text: "x", content: [("id", .integer(Int64(id)))], expiresAt: time.now + lifetime)
    }

    private func spooled() throws -> [JSONValue] {
        try folder.text("spool/push.jsonl").split(separator: "\n").map { try JSONValue(json: Array($0.utf8)) }
    }

    @Test func theSpoolHasALineForEachPhone() throws {
        let queue = try queue()
        queue.start()
        for number in 1...20 { queue.submit(notification(number), to: 2) }
        queue.stop(atMost: .seconds(30))
        let lines = try spooled()
        #expect(lines.count == 60 && queue.waiting == 0)
        #expect(
            lines.compactMap { $0["payload"]?["id"] }
                == (1...20).flatMap { [JSONValue](repeating: .integer($0), count: 3) })
        #expect(
            lines[2] == [
                "at": .string(time.now.iso8601), "token": "bb03", "environment": "sandbox",
                "expires_at": .string((time.now + .seconds(180)).iso8601),
                "payload": ["aps": ["alert": ["title": "T", "body": "x"], "sound": "default"], "id": 1],
            ])
    }

    @Test func whatHasExpiredIsNotSent() throws {
        let queue = try queue()
        queue.submit(notification(lifetime: .zero), to: 1)
        queue.submit(notification(lifetime: .milliseconds(1)), to: 1)
        #expect(queue.waiting == 2)
        queue.start()
        #expect(queue.waitUntilEmpty(atMost: .seconds(30)))
        queue.stop(atMost: .seconds(30))
        #expect(try spooled().count == 1 && losses.all == ["expired"])
    }

    @Test func onlySoManyWait() throws {
        let queue = try queue()
        for _ in 0..<(PushQueue.capacity + 3) { queue.submit(notification(), to: 1) }
        #expect(queue.waiting == PushQueue.capacity && losses.all == ["dropped", "dropped", "dropped"])
        queue.start()
        queue.stop(atMost: .seconds(30))
        #expect(try spooled().count == PushQueue.capacity)
        queue.submit(notification(), to: 1)
        #expect(losses.all.count == 4, "it takes no more")
    }

    /// Whoever has many devices takes nobody else's place.
    @Test func manyDevicesAreOneNotification() throws {
        let queue = try queue(ManyPhones())
        queue.start()
        for number in 1...3 { queue.submit(notification(number), to: 1) }
        queue.stop(atMost: .seconds(60))
        #expect(try spooled().count == 3 * ManyPhones.count && losses.all == [])
    }

    /// While it waited for a place, its phone got another owner.
    @Test func whoeverWaitedIsLookedForAgain() throws {
        let queue = try queue(PassingPhones())
        queue.start()
        queue.submit(notification(), to: 1)
        queue.stop(atMost: .seconds(60))
        #expect(try spooled().count == 100 && losses.all == [])
    }

    /// The database is away for a moment.
    @Test func aDirectoryThatFailsIsAskedAgain() throws {
        let queue = try queue(UnreliablePhones())
        queue.start()
        queue.submit(notification(), to: 1)
        #expect(queue.waitUntilEmpty(atMost: .seconds(30)))
        queue.stop(atMost: .seconds(30))
        #expect(try spooled().count == 1 && losses.all == [])
    }

    @Test func aStopDoesNotWaitForAnotherAttempt() throws {
        let queue = try queue(MissingPhones())
        queue.start()
        queue.submit(notification(), to: 1)
        queue.stop(atMost: .seconds(30))
        #expect(losses.all == ["dropped"] && queue.waiting == 0)
    }

    /// Its connection does not count for ever, and is there again when it is needed.
    @Test func theDirectoryRestsAfterTheLast() throws {
        let phones = RestingPhones()
        let queue = try queue(phones, patience: .milliseconds(20))
        queue.start()
        for round in 1...2 {
            queue.submit(notification(), to: 1)
            let isResting = phones.calls.wait(atMost: .seconds(30)) { $0.count == round * 2 ? true : nil }
            #expect(isResting == true)
        }
        queue.stop(atMost: .seconds(30))
        #expect(phones.calls.withLock { $0 } == ["tokens", "rest", "tokens", "rest"])
        #expect(try spooled().count == 2)
    }
}

private final class RestingPhones: PushDirectory, Sendable {
    let calls = Monitor<[String]>([])

    func tokens(of user: Int64) throws -> [PushToken] {
        calls.change { $0.append("tokens") }
        return Phones().tokens(of: user)
    }

    func forget(_ token: PushToken, goneSince time: Timestamp?) {}

    func rest() { calls.change { $0.append("rest") } }
}

private struct ManyPhones: PushDirectory, Sendable {
    static let count = 2 * PushQueue.capacity

    func tokens(of user: Int64) throws -> [PushToken] {
        (0..<Self.count).map { PushToken(device: Int64($0), text: "\($0)", environment: .sandbox) }
    }

    func forget(_ token: PushToken, goneSince time: Timestamp?) {}
}

/// Of which none is the person's any more when it is asked again.
private final class PassingPhones: PushDirectory, Sendable {
    private let calls = Atomic(0)

    func tokens(of user: Int64) throws -> [PushToken] {
        calls.add(1, ordering: .relaxed).oldValue == 0 ? try ManyPhones().tokens(of: user) : []
    }

    func forget(_ token: PushToken, goneSince time: Timestamp?) {}
}

private struct NoDatabase: Error {}

private final class UnreliablePhones: PushDirectory, Sendable {
    private let calls = Atomic(0)

    func tokens(of user: Int64) throws -> [PushToken] {
        if calls.add(1, ordering: .relaxed).oldValue == 0 { throw NoDatabase() }
        return Phones().tokens(of: user)
    }

    func forget(_ token: PushToken, goneSince time: Timestamp?) {}
}

private final class MissingPhones: PushDirectory, Sendable {
    func tokens(of user: Int64) throws -> [PushToken] { throw NoDatabase() }
    func forget(_ token: PushToken, goneSince time: Timestamp?) {}
}
