import JSON
import MariaDB
import TestSupport
import Testing
import Threads
import Time

/// Guarantee 5 of analytics §16: events are stored exactly once, whatever is sent concurrently. Each racer has its own
/// responder and connection, as if it were an instance of its own.
@Suite struct IngestRaceTests {
    let app: TestApp
    let scene: AnalyticsScene

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
    }

    /// Events with these client ids in two months, including metrics and steps.
    private func batch(_ ids: some Sequence<Int>, of users: [String?]) -> [JSONValue] {
        ids.map { id in
            let message = ["metric:load:complete", "step:pay", "hello"][id % 3]
            let day = id % 2 == 0 ? "2026-04-20" : "2026-05-11"
            return scene.event(message, of: users[id % users.count], id: id, at: "\(day)T06:00:00.\(100 + id)Z")
        }
    }

    /// A round of requests at once. On a busy machine somebody may meet the others too often, and is told to come back
    /// (analytics §3.3). Clients do, and nothing is stored twice.
    private func race(_ racers: Racers, _ requests: [RepeatableRequest]) throws -> [Answer] {
        let answers = try racers.race(requests)
        #expect(answers.count { $0.status == 503 } <= 2)
        return zip(requests, answers).map { request, answer in
            answer.status == 503 ? app.client().send(request) : answer
        }
    }

    /// - Returns: how many events the answers of a round have accepted.
    private func accepted(_ answers: [Answer], sourceLocation: SourceLocation = #_sourceLocation) -> Int {
        answers.reduce(0) { sum, answer in
            guard answer.status == 200, case .integer(let accepted)? = answer["accepted"] else {
                Issue.record("\(answer)", sourceLocation: sourceLocation)
                return sum
            }
            return sum + Int(accepted)
        }
    }

    /// Each event is stored once with everything that belongs to it, and nothing else is stored.
    private func expectWhole(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try app.count("SELECT COUNT(*) FROM events") == count, sourceLocation: sourceLocation)
        for (rows, copies) in [
            (
                try app.ids("SELECT id FROM events WHERE message LIKE 'metric:%' ORDER BY id"),
                try app.ids("SELECT id FROM metric_events ORDER BY id")
            ),
            (
                try app.ids("SELECT id FROM events WHERE message LIKE 'step:%' ORDER BY id"),
                try app.ids("SELECT id FROM funnel_events ORDER BY id")
            ),
        ] {
            #expect(rows == copies, sourceLocation: sourceLocation)
        }
        #expect(try scene.counters() == scene.countedEvents(), sourceLocation: sourceLocation)
        try scene.expectClean(sourceLocation: sourceLocation)
    }

    private func expectNobodyWithoutEvents(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(
            try scene.records()
                == app.column("SELECT DISTINCT user_id FROM events_resolved WHERE user_id IS NOT NULL ORDER BY user_id"),
            sourceLocation: sourceLocation)
        #expect(
            try app.count("SELECT COUNT(*) FROM app_users") == app.count("SELECT COUNT(*) FROM app_user_apps"),
            sourceLocation: sourceLocation)
    }

    @Test(
        arguments: [
            ["u"], [nil], ["a", "b", "c", nil], ["owl_anon_a", "owl_anon_b", "d"],
        ] as [[String?]])
    func theSameBatchSixteenTimes(users: [String?]) throws {
        let racers = Racers(app, 16)
        for round in 0..<5 {
            let request = scene.ingest(batch((round * 30 + 1)...(round * 30 + 30), of: users))
            #expect(accepted(try race(racers, Array(repeating: request, count: 16))) == 30)
            try expectWhole((round + 1) * 30)
        }
        try expectNobodyWithoutEvents()
    }

    /// Overlapping batches, each in another order.
    @Test func splitBatches() throws {
        let racers = Racers(app, 16)
        for round in 0..<6 {
            let ids = (round * 64 + 1)...(round * 64 + 64)
            let requests = (0..<16).map { number in
                let part = ids.filter { ($0 / (1 + number % 3)) % 2 == number % 2 || number < 2 }
                let ordered = number % 4 < 2 ? part : part.reversed()
                return scene.ingest(batch(ordered, of: ["u", "owl_anon_v", nil, "w"]))
            }
            #expect(accepted(try race(racers, requests)) == 64)
            try expectWhole((round + 1) * 64)
        }
        try expectNobodyWithoutEvents()
    }

    /// The same events under sixteen user ids. A user whose events come too late leaves no record.
    @Test func theSameEventsOfDifferentUsers() throws {
        let racers = Racers(app, 16)
        for round in 0..<6 {
            let ids = (round * 20 + 1)...(round * 20 + 20)
            let requests = (0..<16).map {
                scene.ingest(batch(ids, of: ["user \(round) \($0)", "owl_anon_\(round) \($0)"]))
            }
            #expect(accepted(try race(racers, requests)) == 20)
            try expectWhole((round + 1) * 20)
            try expectNobodyWithoutEvents()
        }
    }

    @Test func ingestsAndClaims() throws {
        let racers = Racers(app, 16)
        for round in 0..<8 {
            let anonymous = (0..<4).map { "owl_anon_\(round) \($0)" }
            let requests = (0..<16).map { number in
                if number < 4 { return scene.claim(.string(anonymous[number]), .string("user \(number % 2)")) }
                let first = round * 400 + number * 20
                return scene.ingest(batch(first..<(first + 20), of: anonymous + ["user 0", "user 1"]))
            }
            let answers = try race(racers, requests)
            #expect(answers.prefix(4).allSatisfy { $0.status == 200 })
            #expect(accepted(Array(answers.dropFirst(4))) == 240)
            try expectWhole((round + 1) * 240)
            #expect(try app.column("SELECT user_id FROM app_users_resolved ORDER BY user_id") == ["user 0", "user 1"])
        }
    }

    @Test func importsAndIngests() throws {
        let racers = Racers(app, 16)
        for round in 0..<6 {
            let ids = (round * 30 + 1)...(round * 30 + 30)
            let requests = (0..<16).map { number in
                let users = ["user \(number % 3)", "owl_anon_\(number % 2)", nil]
                return number < 8 ? scene.importing(batch(ids, of: users)) : scene.ingest(batch(ids, of: users))
            }
            #expect(accepted(try race(racers, requests)) == 30)
            try expectWhole((round + 1) * 30)
        }
    }

    @Test func manyUsersInEveryOrder() throws {
        let racers = Racers(app, 16)
        for round in 0..<6 {
            let users = (0..<12).map { "user \(round) \($0)" }
            let requests = (0..<16).map { number in
                let first = round * 400 + number * 24
                let ids = first..<(first + 24)
                return scene.ingest(batch(number % 2 == 0 ? Array(ids) : ids.reversed(), of: users))
            }
            #expect(accepted(try race(racers, requests)) == 384)
            try expectWhole((round + 1) * 384)
            try expectNobodyWithoutEvents()
        }
    }

    /// Whoever holds the record takes the visit away, as the undo of a merge does. The event that waits makes it again.
    @Test func aVisitIsRemovedMeanwhile() throws {
        #expect(app.client().send(scene.ingest([scene.event("a", of: "u", id: 1)]))["accepted"] == 1)
        let holder = try app.database.connect()
        try holder.begin()
        _ = try holder.query("SELECT id FROM app_users FOR UPDATE")
        try holder.execute("DELETE FROM app_user_apps")
        let sender = Thread { [app, scene] in
            _ = app.client().send(scene.ingest([scene.event("b", of: "u", id: 2)]))
        }
        try app.waitForALockWait()
        try holder.commit()
        sender.join()
        #expect(try scene.events() == ["a of u", "b of u"])
        try expectNobodyWithoutEvents()
    }

    /// Whoever holds the record merges another one into it. An undo may take back what was before, so the event that waits notes
    /// its user anew.
    @Test(arguments: [["u"], ["a", "u"]]) func aMergeEndsMeanwhile(users: [String]) throws {
        @Sendable func send(_ first: Int) {
            let events = users.enumerated().map { scene.event("a", of: $0.element, id: first + $0.offset) }
            _ = app.client().send(scene.ingest(events))
        }
        send(1)
        app.time.advance(by: .seconds(1))
        let holder = try app.database.connect()
        try holder.begin()
        _ = try holder.query("SELECT id FROM app_users WHERE user_id = 'u' FOR UPDATE")
        try holder.execute(
            """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, merged_into, merged_at, first_seen_at,
                                   last_seen_at)
            SELECT RANDOM_BYTES(16), project_id, 'owl_anon_t', TRUE, id, ?, first_seen_at, last_seen_at
            FROM app_users WHERE user_id = 'u'
            """, app.time.now)
        app.time.advance(by: .seconds(1))
        let sender = Thread { send(11) }
        try app.waitForALockWait()
        try holder.commit()
        sender.join()
        let visits = try app.sql { db in
            try db.all(
                """
                SELECT v.last_seen_at FROM app_user_apps v JOIN app_users u ON u.id = v.app_user_id WHERE u.user_id = 'u'
                """
            ) { row in try row.read(Timestamp.self) }
        }
        #expect(visits == [app.time.now])
    }

    /// Retention (analytics §14.2) moves the horizon while an older event is under way.
    @Test func theHorizonMovesMeanwhile() throws {
        let retention = try app.database.connect()
        try retention.begin()
        try retention.execute("UPDATE retention_horizons SET horizon = '2026-05-01' WHERE table_name = 'events'")
        let request = scene.ingest([
            scene.event("old", of: "u", at: "2026-04-30"), scene.event("new", of: "u", at: "2026-05-01"),
        ])
        let answer = Monitor<JSONValue?>(nil)
        let sender = Thread { [app] in
            let json = app.client().send(request).json
            answer.change { $0 = json }
        }
        try app.waitForALockWait()
        // An event of this month does not depend on the horizon, so it does not wait.
        #expect(app.client().send(scene.ingest([scene.event("meanwhile")]))["accepted"] == 1)
        try retention.commit()
        sender.join()
        #expect(
            answer.withLock { $0 } == [
                "accepted": 1, "rejected": 1,
                "errors": [["index": 0, "message": "events[0]: timestamp is older than the retention period"]],
            ])
        #expect(try scene.events() == ["new of u", "meanwhile"])
    }
}
