import Analytics
import Database
import JSON
import MariaDB
import TestSupport
import Testing
import Threads

/// Analytics §8.4: all or nothing, whichever row cannot be written.
@Suite struct IngestFailureTests {
    let app: TestApp
    let scene: AnalyticsScene
    private let numbers = Numbers()

    private final class Numbers {
        private var last = 0

        func next() -> Int {
            last += 1
            return last
        }
    }

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        // The first use of a key is noted in a write of its own.
        for request in [scene.ingest([]), scene.importing([])] { #expect(app.client().send(request).status == 400) }
    }

    private func events(_ number: Int, _ users: [String]) -> [JSONValue] {
        zip(["metric:load:start", "step:pay", "hello"], 0...).map { message, index in
            scene.event(
                message, of: users[index % users.count], id: number * 10 + index, at: "2026-05-0\(index + 1)",
                ["supported_languages": [.string("l\(number)")]])
        }
    }

    private func reserve(_ event: Int) throws {
        try app.change(
            """
            INSERT INTO event_attachments (id, project_id, app_id, event_client_id, original_filename, content_type,
                                           size_bytes, sha256, is_dev, created_at)
            VALUES (?, ?, ?, ?, 'f', 'text/plain', 1, ?, 0, ?)
            """, UUID(uuid(event)), scene.project, scene.appID, UUID(uuid(event)), String(repeating: "a", count: 64),
            app.time.now)
    }

    @Test func ingestOfNewUsers() throws {
        try FailureInjection(app: app) { [self] _ in
            let number = numbers.next()
            try reserve(number * 10)
            return scene.ingest(events(number, ["u\(number)", "owl_anon_\(number)"]))
        }.run(expecting: [
            "events INSERT", "metric_events INSERT", "funnel_events INSERT", "app_users INSERT", "app_users UPDATE",
            "app_user_apps INSERT", "app_user_event_counts INSERT", "event_attachments UPDATE", "apps UPDATE",
        ])
    }

    @Test func ingestOfAKnownUser() throws {
        try FailureInjection(app: app) { [self] client in
            try #require(client.send(scene.ingest(events(numbers.next(), ["u"]))).status == 200)
            // So that it is due to be noted again.
            try app.change("UPDATE app_users SET last_seen_at = last_seen_at - INTERVAL 1 MINUTE")
            return scene.ingest(events(numbers.next(), ["u"]))
        }.run(expecting: ["events INSERT", "app_users UPDATE", "app_user_apps UPDATE", "app_user_event_counts UPDATE"])
    }

    @Test func ingestOfDuplicatesByANewUser() throws {
        try FailureInjection(app: app) { [self] client in
            let number = numbers.next()
            try #require(client.send(scene.ingest(events(number, ["u"]))).status == 200)
            return scene.ingest(events(number, ["too late \(number)"]))
        }.run(expecting: ["app_users INSERT", "app_users DELETE"])
    }

    @Test func imports() throws {
        try FailureInjection(app: app) { [self] client in
            let number = numbers.next()
            try #require(client.send(scene.importing(events(number, ["u", "v"]))).status == 200)
            let moved = events(number, ["w\(number)"]).reversed() + [scene.event("new", of: "v", at: "2026-02-01")]
            return scene.importing(Array(moved))
        }.run(expecting: [
            "events INSERT", "events UPDATE", "metric_events INSERT", "metric_events DELETE", "funnel_events INSERT",
            "funnel_events DELETE", "app_users INSERT", "app_users UPDATE", "app_user_event_counts INSERT",
            "app_user_event_counts UPDATE",
        ])
    }

    // MARK: Deadlocks and lost connections

    private static let unavailable = refusal(503, "Service temporarily unavailable")

    @Test func aDeadlockAtAnyRowIsNotSeen() throws {
        let failures = try TransientFailures(app)
        for path in ["ingest", "import"] {
            var row = 0
            var retries = -1
            // Ends when the row is gone.
            while app.statistics.retries.value > retries {
                retries = app.statistics.retries.value
                row += 1
                let number = numbers.next()
                let batch = events(number, ["u\(number)", "owl_anon_\(number)", "known"])
                try failures.fail(row...row, with: row % 2 == 0 ? 1213 : 1205)
                let answer = app.client().send(path == "ingest" ? scene.ingest(batch) : scene.importing(batch))
                try failures.stop()
                #expect(answer["accepted"] == 3, "\(path), row \(row): \(answer)")
                #expect(try app.count("SELECT COUNT(*) FROM events") == number * 3, "\(path), row \(row)")
                #expect(try scene.counters() == scene.countedEvents(), "\(path), row \(row)")
            }
            #expect(row > 10)
        }
        #expect(app.statistics.exhaustions.value == 0)
    }

    @Test func exhaustedAttemptsChangeNothing() throws {
        let failures = try TransientFailures(app)
        let request = scene.ingest(events(1, ["u"]))
        try app.expectUnchanged {
            try failures.fail(2...100_000, with: 1213)
            let refused = app.client().send(request)
            try failures.stop()
            #expect(refused.description == Self.unavailable)
            #expect(refused.header("Retry-After") == "1")
            #expect(app.statistics.retries.value == 7)
        }
        #expect(app.client().send(request)["accepted"] == 3)
    }

    @Test(arguments: [DatabaseProxy.Cut.beforeServer, .beforeAnswer])
    func aLostCommitIsRepeatedByTheClient(cut: DatabaseProxy.Cut) throws {
        guard case .unixSocket(let socket) = app.database.options.address else {
            Issue.record("the tests' database is not on a unix socket")
            return
        }
        let proxy = try DatabaseProxy(to: socket)
        let cutOff = try TestApp(database: app.database, options: proxy.options(for: app.database.options))
        for (path, member) in [("ingest", "duplicates"), ("import", "updated")] {
            let number = numbers.next()
            let batch = events(number, ["u\(number)", "owl_anon_\(number)"])
            let request = path == "ingest" ? scene.ingest(batch) : scene.importing(batch)
            let before = try app.database.dump()
            proxy.cut(cut)
            let refused = cutOff.client().send(request)
            #expect(refused.description == Self.unavailable)
            let isKept = try app.database.dump() != before
            #expect(isKept == (cut == .beforeAnswer))
            let answer = cutOff.client().send(request)
            #expect(answer["accepted"] == (isKept ? 0 : 3))
            #expect(answer[member] == (isKept ? 3 : path == "ingest" ? nil : 0))
            #expect(try app.count("SELECT COUNT(*) FROM events") == number * 3)
            #expect(try app.count("SELECT COUNT(*) FROM metric_events") == number)
            #expect(try app.count("SELECT COUNT(*) FROM funnel_events") == number)
            #expect(try scene.counters() == scene.countedEvents())
        }
        #expect(proxy.cutsMade == 2)
    }

    /// Events that were answered with 200 survive the server's end. After any other answer, sending the batch again
    /// completes it.
    @Test func theDatabaseIsKilled() throws {
        let server = try MariaDBServer()
        let app = try TestApp(database: try TestDatabase(on: server))
        let scene = try AnalyticsScene(app)
        let racers = Racers(app, 8)
        var sent: [RepeatableRequest] = []
        for round in 0..<3 {
            let requests = (0..<8).map { number in
                let first = (round * 8 + number) * 40
                return scene.ingest(
                    (first..<(first + 40)).map { id in
                        let message = ["metric:a:start", "step:b", "hello"][id % 3]
                        return scene.event(message, of: "user \(id % 7)", id: id, at: "2026-05-0\(1 + id % 9)")
                    })
            }
            sent += requests
            // In the middle of the work: as soon as some events are stored.
            let enough = round * 320 + (1 + round) * 40
            let killer = Thread {
                while let rows = try? app.count("SELECT COUNT(*) FROM events"), rows < enough {}
                server.kill9()
            }
            let answers = try racers.race(requests)
            killer.join()
            try server.start()
            #expect(answers.allSatisfy { $0.status == 200 || $0.description == Self.unavailable }, "\(answers)")
            for (request, answer) in zip(requests, answers) where answer.status == 200 {
                #expect(app.client().send(request)["duplicates"] == 40)
            }
            for request in requests { #expect(app.client().send(request).status == 200) }
        }
        for request in sent { #expect(app.client().send(request)["duplicates"] == 40) }
        #expect(try app.count("SELECT COUNT(*) FROM events") == 960)
        #expect(try app.count("SELECT COUNT(*) FROM metric_events") == 320)
        #expect(try app.count("SELECT COUNT(*) FROM funnel_events") == 320)
        #expect(try scene.counters() == scene.countedEvents())
    }
}
