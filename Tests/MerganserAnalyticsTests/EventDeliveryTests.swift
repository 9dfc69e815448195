import FaultProxy
import Foundation
import MariaDB
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAnalytics

/// Every event reaches the server exactly once, whatever the network, the server and the device do. Each test has a server
/// of its own.
@Suite(.serialized) struct EventDeliveryTests {
    private let deployment: AnalyticsDeployment
    private let proxy: FaultProxy

    init() throws {
        deployment = try AnalyticsDeployment()
        proxy = deployment.proxy
    }

    private var losses: [EventLoss] { deployment.losses.withLock { $0 } }

    private func rows() throws -> (all: Int, distinct: Int) {
        (
            try deployment.count("SELECT COUNT(*) FROM events"),
            try deployment.count("SELECT COUNT(DISTINCT message) FROM events")
        )
    }

    /// A third of the requests or answers get lost, are cut, doubled or refused for the moment; dates are wrong.
    @Test func faultsCostNoEventAndDoubleNone() async throws {
        var generator = SeededGenerator(seed: 3)
        let faults: [FaultProxy.Fault] = [
            .lostRequest, .lostAnswer, .cutAnswer(after: 5), .duplicate,
            .answer(status: 503, headers: [("retry-after", "0")], body: #"{"error":"Service unavailable"}"#),
            .answer(status: 502, headers: [], body: "<html>Bad Gateway</html>"),
            .date("Thu, 01 Jan 1970 00:00:00 GMT"), .date("Fri, 31 Dec 2099 23:59:59 GMT"),
        ]
        for _ in 0..<400 {
            let isFaulty = Int.random(in: 0..<10, using: &generator) < 4
            proxy.arm(isFaulty ? faults.randomElement(using: &generator) ?? .none : .none, at: "/v1/")
        }
        let count = 3000
        let reporter = try deployment.reporter { $0.uploadDelay = .milliseconds(5) }
        for number in 1...count {
            reporter.track("event \(number)")
            if number % 500 == 0 { _ = await reporter.flush() }
        }
        try await deployment.deliver(reporter)
        // `sdk:session_started` is one more.
        let rows = try rows()
        #expect(rows.all == count + 1)
        #expect(rows.distinct == count + 1)
        #expect(losses == [])
        #expect(proxy.count("/v1/ingest") > count / 100)
    }

    /// kill -9 at random moments, while it writes and while it sends. What it said is on disk is at the server, once.
    @Test func killedAppsLoseNothingThatIsOnDisk() async throws {
        var generator = SeededGenerator(seed: 4)
        var kept: Set<String> = []
        for round in 0..<12 {
            for _ in 0..<20 {
                let faults: [FaultProxy.Fault] = [.none, .none, .lostAnswer, .duplicate, .lostRequest]
                proxy.arm(faults.randomElement(using: &generator) ?? .none, at: "/v1/ingest")
            }
            let app = try app(name: "round-\(round)", count: 1_000_000)
            let enough = Int.random(in: 1...60, using: &generator)
            try app.wait(for: "\(enough) writes") { app.output.split(separator: "\n").count >= enough }
            app.kill()
            #expect(try app.waitForExit() == .signal(9))
            proxy.disarm()
            // The last line may be cut, too.
            let lines = app.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            let last = try #require(lines.last.flatMap { Int($0) })
            kept.formUnion((1...last).map { "round-\(round) \($0)" })
        }
        let last = try app(name: "last", count: 1)
        #expect(try last.waitForExit(atMost: .seconds(120)) == .status(0), "\(last.errorOutput)")
        kept.insert("last 1")

        let stored = try deployment.installation.database.connect().all(
            "SELECT message FROM events WHERE message NOT LIKE 'sdk:%'"
        ) { row in try row.read(String.self) }
        #expect(Set(stored).count == stored.count)
        let missing = kept.subtracting(stored)
        #expect(missing.isEmpty, "\(missing.count) of \(kept.count), such as \(missing.prefix(3))")
    }

    private func app(name: String, count: Int) throws -> ChildProcess {
        try ChildProcess(
            Repository.program("analytics-process"),
            [deployment.folder("killed").path, proxy.url, deployment.key, name, "\(count)"])
    }

    /// An app and its extension on one folder.
    @Test func twoProcessesShareAFolder() throws {
        let apps = try ["a", "b"].map { try app(name: $0, count: 700) }
        for app in apps { #expect(try app.waitForExit(atMost: .seconds(120)) == .status(0), "\(app.errorOutput)") }
        let rows = try rows()
        #expect(rows.all == 2 * 701)
        #expect(rows.distinct == 2 * 700 + 1)
        #expect(try deployment.count("SELECT COUNT(*) FROM app_users") == 1)
    }

    /// Days without a network, and a start in between.
    @Test func whatWasReportedOfflineGoesLater() async throws {
        let offline = URL(string: "http://127.0.0.1:1")
        for start in 0..<3 {
            let reporter = try deployment.reporter { $0.endpoint = offline ?? $0.endpoint }
            for number in 0..<200 { reporter.track("offline \(start) \(number)") }
            reporter.signIn("user-1")
            reporter.update(["start": "\(start)"])
            #expect(await !reporter.flush())
        }
        let reporter = try deployment.reporter()
        #expect(reporter.userID == "user-1")
        try await deployment.deliver(reporter)
        #expect(try rows().all == 600 + 4)
        #expect(try deployment.text("SELECT properties FROM app_users WHERE user_id = 'user-1'") == #"{"start":"2"}"#)
        #expect(try deployment.count("SELECT COUNT(*) FROM app_users WHERE merged_into IS NULL") == 1)
        #expect(losses == [])
        // Nothing is left for the next start.
        let before = proxy.exchanges.count
        let next = try deployment.reporter()
        try await deployment.deliver(next)
        #expect(proxy.exchanges.count == before + 1)
    }

    /// The network comes back, and nothing else happens.
    @Test func whatCouldNotBeFlushedGoesByItself() async throws {
        let reporter = try deployment.reporter { $0.uploadDelay = .milliseconds(100) }
        proxy.arm(.lostRequest, at: "/v1/ingest")
        reporter.track("late")
        #expect(await !reporter.flush())
        for _ in 0..<600 where try rows().all < 2 { try await Task.sleep(for: .milliseconds(50)) }
        #expect(try rows().all == 2)
    }

    // MARK: Refusals

    /// An event that the server refuses is reported; the others of its batch go on (analytics §8.2).
    @Test func aRefusedEventCostsNoOther() async throws {
        let clock = ShiftedClock()
        let reporter = try deployment.reporter { $0.clock = clock }
        reporter.track("now")
        clock.shift(by: -31 * 86_400)
        reporter.track("a month ago")
        clock.shift(by: 31 * 86_400)
        reporter.track("now again")
        try await deployment.deliver(reporter)
        #expect(try rows().all == 3)
        #expect(
            losses == [
                .refused(
                    events: 1, status: 200,
                    message: "events[2]: timestamp cannot be more than 30 days in the past")
            ])
    }

    // MARK: Clocks

    /// A device whose date is wrong, from its first start on: each event has the time at which it happened.
    @Test(arguments: [2.0, -40 * 24.0])
    func aWrongClockCostsNoEvent(hours: Double) async throws {
        let clock = ShiftedClock()
        clock.shift(by: hours * 3600)
        for launch in 1...2 {
            let before = proxy.count("/v1/ingest")
            let reporter = try deployment.reporter { $0.clock = clock }
            for number in 0..<120 { reporter.track("event \(launch) \(number)") }
            try await deployment.deliver(reporter)
            // Two batches, each refused once and corrected.
            #expect(proxy.count("/v1/ingest") == before + 4)
            reporter.track("event \(launch)")
            try await deployment.deliver(reporter)
            // Known from then on.
            #expect(proxy.count("/v1/ingest") == before + 5)
        }
        #expect(losses == [])
        #expect(
            try deployment.count(
                "SELECT COUNT(*) FROM events WHERE ABS(TIMESTAMPDIFF(SECOND, timestamp, UTC_TIMESTAMP())) < 60") == 244)
    }

    /// Somebody sets the date right, while the app runs or before it is started again: what it stamps from then on is right.
    @Test(arguments: [40 * 24.0, -40 * 24.0], [false, true])
    func aDateThatIsSetRightCostsNoEvent(hours: Double, isRestarted: Bool) async throws {
        let clock = ShiftedClock()
        clock.shift(by: hours * 3600)
        var reporter = try deployment.reporter { $0.clock = clock }
        reporter.track("wrong")
        try await deployment.deliver(reporter)
        clock.shift(by: -hours * 3600)
        if isRestarted { reporter = try deployment.reporter { $0.clock = clock } }
        for number in 0..<2 {
            reporter.track("right \(number)")
            try await deployment.deliver(reporter)
        }
        #expect(losses == [])
        #expect(
            try deployment.count(
                "SELECT COUNT(*) FROM events WHERE ABS(TIMESTAMPDIFF(SECOND, timestamp, UTC_TIMESTAMP())) < 60")
                == (isRestarted ? 5 : 4))
    }

    /// The answer to what was corrected is lost, or the app is killed: it goes again as it was, though the clocks differ by
    /// another time now.
    @Test(arguments: [false, true])
    func aCorrectedEventIsStoredOnce(isRestarted: Bool) async throws {
        let clock = ShiftedClock()
        clock.shift(by: 2 * 3600)
        var reporter = try deployment.reporter { $0.clock = clock }
        for number in 0..<150 { reporter.track("event \(number)") }
        proxy.arm(.none, at: "/v1/ingest")
        proxy.arm(.lostAnswer, at: "/v1/ingest")
        #expect(await !reporter.flush())
        #expect(try rows().all == 100)
        clock.shift(by: 10)
        if isRestarted { reporter = try deployment.reporter { $0.clock = clock } }
        try await deployment.deliver(reporter)
        #expect(try rows().all == (isRestarted ? 152 : 151))
        #expect(try rows().distinct == 151)
        #expect(losses == [])
    }

    /// By the device's clock what waits is too old; by the server's it is not.
    @Test func aDateSetAheadDropsNothing() async throws {
        let clock = ShiftedClock()
        do {
            let reporter = try deployment.reporter { $0.clock = clock }
            reporter.track("before")
            await reporter.persist()
        }
        clock.shift(by: 30 * 86_400)
        let reporter = try deployment.reporter { $0.clock = clock }
        reporter.track("after")
        try await deployment.deliver(reporter)
        #expect(try rows().all == 4)
        #expect(losses == [])
    }

    /// An answer with a wrong Date is no reason to distrust the device.
    @Test func aWrongDateChangesNothing() async throws {
        let reporter = try deployment.reporter()
        for date in ["Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 2099 23:59:59 GMT"] {
            proxy.arm(.date(date), at: "/v1/ingest")
            for number in 0..<150 { reporter.track("\(date) \(number)") }
            try await deployment.deliver(reporter)
        }
        #expect(try rows().all == 301)
        #expect(losses == [])
    }

    /// A key that has leaked is revoked. What was not sent with it goes with the app's next one.
    @Test func whatARefusedKeyCannotSendWaits() async throws {
        do {
            let reporter = try deployment.reporter { $0.key = "owl_client_" + String(repeating: "0", count: 32) }
            reporter.track("event", attachments: [EventAttachment(Data("hello".utf8), name: "a")])
            reporter.signIn("user-1")
            reporter.update(["plan": "pro"])
            for _ in 0..<2 { #expect(await !reporter.flush()) }
        }
        // The app is told once.
        #expect(losses == [.refused(events: 0, status: 401, message: "Invalid API key")])
        try await deployment.deliver(try deployment.reporter())
        // `sdk:session_started` comes twice.
        #expect(try rows().all == 3)
        #expect(try deployment.count("SELECT COUNT(*) FROM identity_claims") == 1)
        #expect(try deployment.count("SELECT COUNT(*) FROM app_users WHERE properties IS NOT NULL") == 1)
        #expect(try deployment.count("SELECT COUNT(*) FROM event_attachments WHERE uploaded_at IS NOT NULL") == 1)
        #expect(losses.count == 1)
    }

    /// Events that cannot be read for now are not delivered, and keep no claim and no file waiting.
    @Test func whatCannotBeReadWaits() async throws {
        let reporter = try deployment.reporter()
        reporter.track("event", attachments: [EventAttachment(Data("hello".utf8), name: "a")])
        reporter.signIn("user-1")
        await reporter.persist()
        let names = try FileManager.default.contentsOfDirectory(atPath: deployment.folder().path)
        let segment = deployment.folder().appending(path: try #require(names.first { $0.hasSuffix(Segment.suffix) }))
        let elsewhere = deployment.folder().appending(path: "elsewhere")
        try FileManager.default.moveItem(at: segment, to: elsewhere)
        // root reads everything, but no folder as a file.
        try FileManager.default.createDirectory(at: segment, withIntermediateDirectories: false)
        #expect(await !reporter.flush())
        #expect(try rows().all == 0)
        #expect(try deployment.count("SELECT COUNT(*) FROM identity_claims") == 1)
        #expect(try deployment.count("SELECT COUNT(*) FROM event_attachments WHERE uploaded_at IS NOT NULL") == 1)
        try FileManager.default.removeItem(at: segment)
        try FileManager.default.moveItem(at: elsewhere, to: segment)
        try await deployment.deliver(reporter)
        #expect(try rows().all == 2)
    }

    /// A wrong bundle id: each batch is refused once, reported, and nothing waits behind it.
    @Test func aRefusedBatchBlocksNothing() async throws {
        let reporter = try deployment.reporter { $0.bundleID = "com.example.other" }
        for number in 0..<150 { reporter.track("event \(number)") }
        #expect(await reporter.flush())
        #expect(proxy.count("/v1/ingest") == 2)
        #expect(
            losses
                == [100, 51].map {
                    .refused(
                        events: $0, status: 403,
                        message: "bundle_id does not match the app associated with this API key")
                })
        let next = try deployment.reporter()
        next.track("event")
        try await deployment.deliver(next)
        #expect(try rows().all == 2)
    }

    /// The body cannot be read, or is too large: halves find out which event is to blame.
    @Test(arguments: [400, 413])
    func aBodyThatIsRefusedIsHalved(status: Int) async throws {
        let body = #"{"statusCode":\#(status),"error":"-","message":"-"}"#
        proxy.arm(.answer(status: status, headers: [], body: body), at: "/v1/ingest", times: 2)
        let reporter = try deployment.reporter()
        for number in 0..<99 { reporter.track("event \(number)") }
        try await deployment.deliver(reporter)
        // 100, 50, then 25, 25 and 50
        #expect(proxy.count("/v1/ingest") == 5)
        #expect(try rows().all == 100)
        #expect(losses == [])
    }

    /// The page of a hotel's network, with any status, decides nothing.
    @Test(arguments: [200, 302, 403, 404])
    func somebodyElsesAnswerLosesNothing(status: Int) async throws {
        proxy.arm(
            .answer(status: status, headers: [("content-type", "text/html")], body: "<html>Sign in</html>"),
            at: "/v1/", times: 3)
        let reporter = try deployment.reporter()
        reporter.track("event")
        reporter.signIn("user-1")
        reporter.update(["plan": "pro"])
        #expect(await !reporter.flush())
        try await deployment.deliver(reporter)
        #expect(try rows().all == 2)
        #expect(losses == [])
    }

    // MARK: Patience

    @Test func theServersPatienceIsKept() async throws {
        let clock = ShiftedClock()
        let reporter = try deployment.reporter { $0.clock = clock }
        proxy.arm(
            .answer(status: 429, headers: [("retry-after", "120")], body: #"{"error":"Rate limit exceeded"}"#),
            at: "/v1/")
        reporter.track("event")
        #expect(await !reporter.flush())
        // Not even when it is asked for.
        #expect(await !reporter.flush())
        clock.advance(by: .seconds(119))
        #expect(await !reporter.flush())
        #expect(proxy.count("/v1/") == 1)
        clock.advance(by: .seconds(2))
        #expect(await reporter.flush())
        #expect(proxy.count("/v1/") == 2)
    }

    /// What the server asks of files keeps no event waiting.
    @Test func filesAndEventsArePatientEachByItself() async throws {
        let clock = ShiftedClock()
        let reporter = try deployment.reporter { $0.clock = clock }
        proxy.arm(
            .answer(status: 429, headers: [("retry-after", "120")], body: #"{"error":"Rate limit exceeded"}"#),
            at: "/v1/ingest/attachment")
        reporter.track("with a file", attachments: [EventAttachment(Data("hello".utf8), name: "a")])
        #expect(await !reporter.flush())
        reporter.track("after it")
        #expect(await !reporter.flush())
        #expect(try rows().all == 3)
        #expect(proxy.count("/v1/ingest/attachment") == 1)
        clock.advance(by: .seconds(121))
        #expect(await reporter.flush())
        #expect(losses == [])
    }

    /// A round that was planned before the server asked for patience waits, too.
    @Test func aPlannedRoundIsPatient() async throws {
        let reporter = try deployment.reporter { $0.uploadDelay = .seconds(1) }
        proxy.arm(
            .answer(status: 429, headers: [("retry-after", "3")], body: #"{"error":"Rate limit exceeded"}"#),
            at: "/v1/")
        // The round is planned for a second later, and the server asks for three.
        let start = ContinuousClock.now
        reporter.track("event")
        await reporter.persist()
        #expect(await !reporter.flush())
        for _ in 0..<1000 where proxy.count("/v1/") < 2 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(ContinuousClock.now - start > .seconds(2))
        #expect(try rows().all == 2)
        _ = reporter
    }

    /// So does one that was planned before another round failed.
    @Test func aPlannedRoundBacksOff() async throws {
        let reporter = try deployment.reporter {
            $0.uploadDelay = .seconds(10)
            $0.backoff = Backoff(base: .seconds(86_400), longest: .seconds(86_400))
        }
        proxy.arm(.lostRequest, at: "/v1/")
        reporter.track("event")
        await reporter.persist()
        #expect(await !reporter.flush())
        try await Task.sleep(for: .seconds(12))
        #expect(proxy.count("/v1/") == 1)
        #expect(await reporter.flush())
    }

    @Test func ownBackOffEndsWhenSomebodyAsks() async throws {
        let reporter = try deployment.reporter { $0.backoff = Backoff(base: .seconds(600), longest: .seconds(600)) }
        proxy.arm(.lostRequest, at: "/v1/")
        #expect(await !reporter.flush())
        #expect(await reporter.flush())
    }

    /// Without a word of the app, and again after a failure.
    @Test func eventsGoByThemselves() async throws {
        proxy.arm(.lostAnswer, at: "/v1/ingest", times: 2)
        let reporter = try deployment.reporter { $0.uploadDelay = .milliseconds(10) }
        reporter.track("event")
        for _ in 0..<1000 where try rows().all < 2 || proxy.count("/v1/ingest") < 3 {
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(try rows().all == 2)
        _ = reporter
    }

    // MARK: Bounds

    /// Callers never wait: what finds the buffer full is lost, and counted.
    @Test func whatIsTooFastIsCounted() async throws {
        let reporter = try deployment.reporter()
        let count = 20 * Intake.capacity
        for number in 0..<count { reporter.track("\(number)") }
        try await deployment.deliver(reporter)
        let lost = losses.reduce(0) { if case .tooFast(let events) = $1 { $0 + events } else { $0 } }
        #expect(lost > 0)
        #expect(try rows().all + lost == count + 1)
    }
}

/// The device's clocks, which a test moves.
final class ShiftedClock: DeviceClock {
    private let state = Locked((wrong: 0.0, passed: Duration.zero))

    var date: Date { Date() + state.withLock { $0.wrong + $0.passed.seconds } }
    var uptime: Duration { SystemClock().uptime + state.withLock { $0.passed } }

    func sleep(for duration: Duration) async throws { try await SystemClock().sleep(for: duration) }

    /// Somebody sets the date.
    func shift(by seconds: Double) { state.withLock { $0.wrong += seconds } }
    /// Time passes.
    func advance(by duration: Duration) { state.withLock { $0.passed += duration } }
}
