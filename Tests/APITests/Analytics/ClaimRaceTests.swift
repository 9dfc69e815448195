import Database
import JSON
import MariaDB
import Testing

/// Claims at the same instant as other claims and writes (analytics §4.4, §5; §16, guarantees 3 and 4).
@Suite struct ClaimRaceTests {
    let app: TestApp
    let scene: AnalyticsScene

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
    }

    private func ingest(_ user: String) -> RepeatableRequest {
        let event: JSONValue = [
            "message": "m", "level": "info", "session_id": "00000000-0000-4000-8000-000000000000",
            "user_id": .string(user),
        ]
        return scene.post("/v1/ingest", ["bundle_id": "com.example", "events": [event, event]])
    }

    private func feedback(_ user: String) -> RepeatableRequest {
        scene.post("/v1/feedback", ["bundle_id": "com.example", "message": "m", "user_id": .string(user)])
    }

    @Test func ofManyClaimantsExactlyOneSucceedsWhereOthersAreRefused() throws {
        try app.change("UPDATE projects SET claim_conflict = 'refuse'")
        let racers = Racers(app, 16)
        for round in 0..<10 {
            let id = JSONValue.string("owl_anon_\(round)")
            if round.isMultiple(of: 2) { _ = app.client().send(scene.properties(id, ["k": "v"])) }
            let answers = try racers.race((0..<16).map { scene.claim(id, .string("user-\(round)-\($0)")) })
            #expect(answers.count { $0.status == 200 } == 1)
            #expect(answers.count { $0.status == 409 } == 15)
        }
        #expect(try app.count("SELECT COUNT(*) FROM identity_claims") == 10)
        // A refused claim leaves no record behind.
        #expect(try app.count("SELECT COUNT(*) FROM app_users") == 10)
    }

    @Test func whereAllSucceedEachHoldsItsClaimAndTheLastGetsWhatComesLater() throws {
        let racers = Racers(app, 16)
        for round in 0..<5 {
            let id = "owl_anon_\(round)"
            let answers = try racers.race((0..<16).map { scene.claim(.string(id), .string("user-\($0)")) })
            #expect(answers.allSatisfy { $0.status == 200 })
            _ = app.client().send(scene.properties(.string(id), ["round": .string("\(round)")]))
            let (last, marked) = try app.sql { db in
                (
                    try db.first(
                        "SELECT app_user_id FROM identity_claims WHERE anonymous_id = ? ORDER BY claimed_at DESC LIMIT 1",
                        id
                    ) { row in try row.read(Int.self) },
                    try db.first(
                        "SELECT id FROM app_users WHERE JSON_VALUE(properties, '$.round') = ?", "\(round)"
                    ) { row in try row.read(Int.self) }
                )
            }
            #expect(last == marked)
        }
        #expect(
            try app.count(
                "SELECT COUNT(*) - COUNT(DISTINCT anonymous_id, claimed_at) FROM identity_claims") == 0)
        #expect(
            try app.count("SELECT COUNT(*) - COUNT(DISTINCT app_user_id, claimed_at) FROM identity_claims") == 0)
    }

    @Test func manyIDsOfOneNewUser() throws {
        let racers = Racers(app, 8)
        for round in 0..<10 {
            let ids = (0..<8).map { "owl_anon_\(round)-\($0)" }
            for id in ids { _ = app.client().send(ingest(id)) }
            let answers = try racers.race(ids.map { scene.claim(.string($0), .string("user-\(round)")) })
            #expect(answers.allSatisfy { $0.status == 200 && $0["events_reassigned_count"] == 2 }, "\(answers)")
        }
        #expect(try app.count("SELECT COUNT(*) FROM app_users WHERE merged_into IS NULL") == 10)
        #expect(try app.count("SELECT COUNT(DISTINCT user_id) FROM events_resolved") == 10)
        #expect(try app.count("SELECT COUNT(*) FROM events_resolved WHERE user_id LIKE 'user-%'") == 160)
        try scene.expectClean()
    }

    /// Somebody makes the user's record after the claim has found none.
    @Test func theUserAppearsMeanwhile() throws {
        _ = app.client().send(ingest("owl_anon_1"))
        let appearing = """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at)
            SELECT RANDOM_BYTES(16), project_id, 'u', FALSE, first_seen_at, last_seen_at
            FROM app_users WHERE user_id = 'owl_anon_1'
            """
        let answer = try SwapScene(app).send(scene.claim("owl_anon_1", "u"), whileHeld: appearing) { _ in }
        #expect(answer.status == 200 && answer["events_reassigned_count"] == 2, "\(answer)")
        #expect(app.statistics.retries.value >= 1)
        #expect(try app.column("SELECT user_id FROM app_users WHERE merged_into IS NULL") == ["u"])
        #expect(try app.column("SELECT DISTINCT user_id FROM events_resolved") == ["u"])
        try scene.expectClean()
    }

    /// Somebody makes the id's record after the claim has found none. The user becomes what it is (analytics §5).
    @Test func theIDAppearsMeanwhile() throws {
        _ = app.client().send(ingest("someone"))
        let appearing = """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at, is_dev)
            SELECT RANDOM_BYTES(16), project_id, 'owl_anon_1', TRUE, first_seen_at, last_seen_at, TRUE
            FROM app_users WHERE user_id = 'someone'
            """
        let answer = try SwapScene(app).send(scene.claim("owl_anon_1", "u"), whileHeld: appearing) { _ in }
        #expect(answer.status == 200, "\(answer)")
        #expect(
            try app.column("SELECT CONCAT(user_id, ' ', is_dev) FROM app_users ORDER BY user_id") == [
                "someone 0", "u 1",
            ])
        try scene.expectClean()
    }

    /// Another user has become what the id was, after the claim has read which records there are.
    @Test func theIDIsClaimedMeanwhile() throws {
        _ = app.client().send(ingest("owl_anon_1"))
        let answer = try SwapScene(app).send(
            scene.claim("owl_anon_1", "u"),
            whileHeld: "SELECT id FROM app_users WHERE user_id = 'owl_anon_1' FOR UPDATE"
        ) { holder in
            try holder.executeScript(
                """
                INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at)
                SELECT project_id, user_id, id, '2126-05-01 00:00:00.123456' FROM app_users;
                UPDATE app_users SET user_id = 'first', is_anonymous = FALSE
                """)
        }
        #expect(answer.status == 200 && answer["events_reassigned_count"] == 0, "\(answer)")
        // The later one, whatever the clock says.
        #expect(
            try app.column("SELECT CAST(MAX(claimed_at) AS CHAR) FROM identity_claims") == [
                "2126-05-01 00:00:00.123457"
            ])
        _ = app.client().send(ingest("owl_anon_1"))
        #expect(
            try app.column("SELECT CONCAT(user_id, ' ', COUNT(*)) FROM events_resolved GROUP BY user_id") == [
                "first 2", "u 2",
            ])
        #expect(try app.column("SELECT user_id FROM app_users ORDER BY user_id") == ["first", "u"])
        try scene.expectClean()
    }

    @Test func theSameClaimAtOnceIsOneClaim() throws {
        let racers = Racers(app, 16)
        for round in 0..<10 {
            let (id, user) = ("owl_anon_\(round)", "user-\(round)")
            _ = app.client().send(ingest(id))
            if round.isMultiple(of: 2) { _ = app.client().send(ingest(user)) }
            let answers = try racers.race(Array(repeating: scene.claim(.string(id), .string(user)), count: 16))
            #expect(answers.allSatisfy { $0.status == 200 })
            // The answers report each event as reassigned once.
            #expect(answers.compactMap { $0["events_reassigned_count"]?.integer }.reduce(0, +) == 2)
        }
        #expect(try app.count("SELECT COUNT(*) FROM identity_claims") == 10)
    }

    /// In whatever order they run, all rows end under the real user, and the anonymous id names no live record.
    @Test func writesBesideAClaimEndUnderTheOwner() throws {
        let racers = Racers(app, 16)
        for round in 0..<20 {
            let (id, user) = ("owl_anon_\(round)", "user-\(round)")
            if round.isMultiple(of: 3) { _ = app.client().send(ingest(user)) }
            var requests = [scene.claim(.string(id), .string(user)), scene.claim(.string(id), .string(user))]
            for number in requests.count..<16 {
                switch number % 4 {
                case 0: requests.append(ingest(id))
                case 1: requests.append(feedback(id))
                case 2: requests.append(scene.properties(.string(id), ["k": "v"]))
                default: requests.append(ingest(user))
                }
            }
            // In each round, the claim meets the other requests at another moment.
            let answers = try racers.race(requests, delays: [.microseconds(round * 150), .microseconds(round * 400)])
            #expect(answers.allSatisfy { [200, 201].contains($0.status) }, "\(answers.map(\.status))")
        }
        let users = try app.column("SELECT DISTINCT user_id FROM events_resolved")
        #expect(users.count == 20 && users.allSatisfy { $0.hasPrefix("user-") })
        #expect(try app.count("SELECT COUNT(*) FROM feedback_resolved WHERE user_id NOT LIKE 'user-%'") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM app_users WHERE merged_into IS NULL") == 20)
        #expect(
            try app.count(
                """
                SELECT COUNT(*) FROM app_users u LEFT JOIN
                    (SELECT app_user_id, COUNT(*) AS n FROM events_resolved GROUP BY app_user_id) e ON e.app_user_id = u.id
                LEFT JOIN (SELECT app_user_id, SUM(n) AS n FROM app_user_event_counts GROUP BY app_user_id) c
                    ON c.app_user_id = u.id
                WHERE COALESCE(e.n, 0) <> COALESCE(c.n, 0)
                """) == 0)
        try scene.expectClean()
    }
}
