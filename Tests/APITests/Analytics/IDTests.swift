import Analytics
import JSON
import TestSupport
import Testing

/// Any 128 bits written as a UUID are an id, of any version and variant (analytics §2.4).
@Suite struct IDTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    /// Each version digit with each variant digit, all zeros, and all ones; sorted by their bytes.
    private static let all = {
        let digits = Array("0123456789abcdef")
        let combined = digits.flatMap { version in
            digits.map { variant in
                "3f2504e0-4f89-\(version)1d3-\(variant)a0c-0305e82c3301"
            }
        }
        return ["00000000-0000-0000-0000-000000000000"] + combined + ["ffffffff-ffff-ffff-ffff-ffffffffffff"]
    }()

    private static let batches = stride(from: 0, to: all.count, by: 100).map { all[$0..<min($0 + 100, all.count)] }

    private func event(_ id: String, at time: String = "2026-05-12T06:00:00Z") -> JSONValue {
        scene.event(
            "metric:m:record", at: time,
            [
                "session_id": .string(id), "client_event_id": .string(id),
                "custom_attributes": ["tracking_id": .string(id)],
            ])
    }

    /// All pages of a list.
    private func pages(_ path: String, _ list: String) throws -> [JSONValue] {
        var (rows, cursor): ([JSONValue], String?) = ([], nil)
        repeat {
            let answer = scene.get("\(path)&limit=7" + (cursor.map { "&cursor=\($0)" } ?? ""), client)
            try #require(answer.status == 200, "\(answer)")
            rows += answer[list]?.array ?? []
            cursor = answer["cursor"]?.string
        } while cursor != nil && rows.count <= Self.all.count
        return rows
    }

    @Test func eventsOfAnyAreStoredOnceAndRead() throws {
        for batch in Self.batches {
            let answer = client.send(scene.ingest(batch.map { event($0) }))
            #expect("\(answer)" == #"200 {"accepted":\#(batch.count),"rejected":0}"#)
            let again = client.send(scene.ingest(batch.map { event($0.uppercased()) }))
            #expect("\(again)" == #"200 {"accepted":0,"rejected":0,"duplicates":\#(batch.count)}"#)
            // They have no timestamp, so they are found by their ids alone.
            let undated = batch.map { scene.event("undated", ["client_event_id": .string($0)]) }
            #expect(
                "\(client.send(scene.ingest(undated)))"
                    == #"200 {"accepted":0,"rejected":0,"duplicates":\#(batch.count)}"#)
        }
        #expect(try app.ids("SELECT tracking_id FROM metric_events ORDER BY 1").map(\.description) == Self.all)
        let listed = try pages("/v1/events?order=asc", "events")
        #expect(listed.compactMap { $0["session_id"]?.string }.sorted() == Self.all)
        #expect(listed.compactMap { $0["client_event_id"]?.string }.sorted() == Self.all)
        for id in Self.all {
            let found = scene.get("/v1/events?session_id=\(id.uppercased())", client)
            #expect(found.all("client_event_id", in: "events") == [id])
        }
        #expect(scene.get("/v1/events/count", client)["unique_sessions"]?.integer == Self.all.count)
    }

    /// All have the same time, so only the id decides.
    @Test(arguments: ["asc", "desc"]) func pagesOfOneTimeAreInTheOrderOfTheirIds(order: String) throws {
        for id in Self.all {
            try app.change(
                """
                INSERT INTO events (id, app_id, session_id, level, message, is_dev, timestamp, received_at)
                VALUES (?, ?, ?, 'info', 'm', FALSE, ?, ?)
                """, UUID(id), scene.appID, UUID(id), app.time.now, app.time.now)
        }
        let seen = try pages("/v1/events?order=\(order)", "events").compactMap { $0["id"]?.string }
        #expect(seen == (order == "asc" ? Self.all : Self.all.reversed()))
        for id in Self.all { #expect(scene.get("/v1/events/\(id.uppercased())", client)["id"] == .string(id)) }
    }

    @Test func importsUpdateByThem() throws {
        func send(_ time: String, upperCased: Bool) -> String {
            let events = Self.all.map { event(upperCased ? $0.uppercased() : $0, at: time) }
            return "\(client.send(scene.importing(events)))"
        }
        let count = Self.all.count
        #expect(
            send("2026-05-01T00:00:00Z", upperCased: false) == #"200 {"accepted":\#(count),"rejected":0,"updated":0}"#)
        #expect(
            send("2026-05-01T00:00:00Z", upperCased: true) == #"200 {"accepted":0,"rejected":0,"updated":\#(count)}"#)
        #expect(try app.ids("SELECT client_event_id FROM metric_events ORDER BY 1").map(\.description) == Self.all)
    }

    @Test func feedbackAndAnswersHaveThemAsSessions() throws {
        try scene.makeQuestionnaire()
        for id in Self.all {
            #expect(client.send(scene.feedback(["session_id": .string(id.uppercased())])).status == 201)
            #expect(client.send(scene.respond(["words": "w"], ["session_id": .string(id.uppercased())])).status == 201)
        }
        let listed = try pages("/v1/feedback?", "feedback")
        #expect(listed.compactMap { $0["session_id"]?.string }.sorted() == Self.all)
        let responses = try app.ids("SELECT session_id FROM questionnaire_responses ORDER BY 1")
        #expect(responses.map(\.description) == Self.all)
    }

    @Test func attachmentsAreReservedForThem() throws {
        for id in Self.all { _ = try scene.reserve(client, [1], ["client_event_id": .string(id.uppercased())]) }
        for batch in Self.batches { #expect(client.send(scene.ingest(batch.map { event($0) })).status == 200) }
        let listed = try pages("/v1/attachments?", "attachments")
        #expect(listed.compactMap { $0["event_client_id"]?.string }.sorted() == Self.all)
        for attachment in listed {
            let (id, event) = (attachment["event_client_id"]?.string ?? "", attachment["event_id"]?.string ?? "")
            #expect(scene.get("/v1/events/\(event)", client)["client_event_id"] == .string(id))
            #expect(
                scene.get("/v1/attachments?event_client_id=\(id.uppercased())", client).all("id", in: "attachments")
                    == [attachment["id"]?.string])
        }
    }

    /// Rows that were created elsewhere. The same id belongs to the team, its project, its app and one of its users.
    @Test func everythingElseMayHaveThem() throws {
        for id in Self.all {
            let uuid = UUID(id)
            try app.change("INSERT INTO teams (id, name, created_at) VALUES (?, 'T', ?)", uuid, app.time.now)
            try app.change(
                "INSERT INTO projects (id, team_id, name, slug, created_at) VALUES (?, ?, 'P', 'p', ?)", uuid, uuid,
                app.time.now)
            try app.change(
                """
                INSERT INTO apps (id, team_id, project_id, name, platform, bundle_id, created_at)
                VALUES (?, ?, ?, 'A', 'apple', 'com.example', ?)
                """, uuid, uuid, uuid, app.time.now)
            try app.change("UPDATE api_keys SET team_id = ?", uuid)
            try app.change("UPDATE api_keys SET app_id = ? WHERE app_id IS NOT NULL", uuid)
            #expect(client.send(scene.ingest([scene.event(of: "owl_anon_a", id: 1)])).status == 200)
            let claim = client.send(scene.claim("owl_anon_a", "u"))
            #expect("\(claim)" == #"200 {"claimed":true,"events_reassigned_count":1}"#)
            try app.change("UPDATE app_users SET public_id = ? WHERE user_id = 'u' AND project_id = ?", uuid, uuid)

            #expect(
                scene.get("/v1/events?app_id=\(id)&project_id=\(id)&team_id=\(id)", client)["events"]?.array?.count == 1
            )
            #expect(scene.get("/v1/projects?team_id=\(id)", client).all("id", in: "projects") == [id])
            #expect(scene.get("/v1/apps", client).all("project_id", in: "apps") == [id])
            #expect(scene.get("/v1/projects/\(id.uppercased())/feedback", client).status == 200)
            #expect(scene.get("/v1/apps/\(id)/users", client).all("id", in: "users") == [id])
            let user = scene.get("/v1/app-users/\(id.uppercased())", client)
            #expect(user["id"] == .string(id) && user["apps"]?.array?.first?["app_id"] == .string(id), "\(user)")
        }
        try scene.expectClean()
    }
}
