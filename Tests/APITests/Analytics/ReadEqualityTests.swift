import Analytics
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Every read shows the rows of a tombstone as if they had been rewritten to the owner (analytics §4.3, §16.2).
@Suite struct ReadEqualityTests {
    @Test func everyAnswerIsTheSameBeforeDuringAndAfterTheRewrite() throws {
        let app = try TestApp()
        let scene = try AnalyticsScene(app)
        let client = app.client()
        let second = try scene.makeApp()

        // Two users: one with rows under two anonymous ids, and one without an anonymous past.
        let past: [(name: String, app: UUID, second: Int)] = [
            ("owl_anon_1", scene.appID, 0), ("owl_anon_2", second.id, 20), ("u", scene.appID, 40),
            ("v", second.id, 60), ("owl_anon_3", scene.appID, 80),
        ]
        for (name, id, offset) in past {
            let user = try scene.insertUser(name, at: app.time.now - .seconds(1000 - offset))
            for number in 0..<6 {
                let time = app.time.now - .seconds(1000 - offset - number % 3)
                try scene.insertEvent(
                    "\(name) \(number)", of: user, at: time, app: id, level: ["info", "error"][number % 2],
                    screen: number == 0 ? "Home" : nil)
                try scene.insertFeedback("\(name) \(number)", of: user, at: time, app: id)
            }
        }
        for id in ["owl_anon_1", "owl_anon_2"] {
            #expect(client.send(scene.claim(.string(id), "u")).status == 200)
        }
        #expect(try scene.records() == ["owl_anon_1 -> u", "owl_anon_2 -> u", "owl_anon_3", "u", "v"])

        let paths = try paths(app, scene)
        func answers() -> [String] { paths.map { "\($0): \(scene.get($0, client))" } }
        let before = answers()
        #expect(before.allSatisfy { $0.contains(": 200 ") || $0.contains(": 404 ") })
        let (owner, tombstones) = try tombstones(app)
        #expect(tombstones.count == 2)
        var rewritten = 0
        for tombstone in tombstones {
            while true {
                let moved = try app.sql { db in
                    try db.execute(
                        "UPDATE events SET app_user_id = ? WHERE app_user_id = ? LIMIT 1", owner, tombstone
                    ).affectedRows
                }
                if moved == 0 { break }
                rewritten += moved
                #expect(answers() == before)
            }
            try app.change("DELETE FROM app_users WHERE id = ?", tombstone)
            #expect(answers() == before)
        }
        #expect(rewritten == 12)
        #expect(try scene.records() == ["owl_anon_3", "u", "v"])
    }

    private func tombstones(_ app: TestApp) throws -> (owner: Int64, tombstones: [Int64]) {
        try app.sql { db in
            let owner = try db.first("SELECT id FROM app_users WHERE user_id = 'u'") { row in try row.read(Int64.self) }
            let tombstones = try db.all("SELECT id FROM app_users WHERE merged_into IS NOT NULL") { row in
                try row.read(Int64.self)
            }
            return (try #require(owner), tombstones)
        }
    }

    /// All reads with their filters. Lists are read with several page sizes.
    private func paths(_ app: TestApp, _ scene: AnalyticsScene) throws -> [String] {
        let users = ["u", "v", "owl_anon_1", "owl_anon_2", "owl_anon_3", "nobody"]
        let filters =
            [
                "", "level=error", "screen_name=Home", "app_id=\(scene.appID)", "project_id=\(scene.project)",
                "since=970s",
            ]
            + users.map { "user_id=\($0)" } + users.map { "user_id=\($0)&level=info&since=999s&until=1m" }
        let events = filters.flatMap { filter in
            ["/v1/events?\(filter)", "/v1/events?order=asc&limit=4&\(filter)", "/v1/events/count?\(filter)"]
        }
        let details = try app.ids("SELECT id FROM events").map { "/v1/events/\($0)" }
        let people = ["", "search=owl", "is_anonymous=true", "sort=first_seen", "app_id=\(scene.appID)"].flatMap {
            ["/v1/app-users?\($0)", "/v1/apps/\(scene.appID)/users?\($0)"]
        }
        let person = try app.ids("SELECT public_id FROM app_users").map { "/v1/app-users/\($0)" }
        let feedback = ["", "limit=4", "app_id=\(scene.appID)"].flatMap {
            ["/v1/feedback?\($0)", "/v1/projects/\(scene.project)/feedback?\($0)"]
        }
        return events + details + people + person + feedback + ["/v1/apps", "/v1/projects"]
    }
}
