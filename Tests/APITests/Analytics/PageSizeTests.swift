import Analytics
import JSON
import TestSupport
import Testing
import Time

/// A page ends before its rows exceed their byte budget, whatever the limit.
@Suite struct PageSizeTests {
    private let app: TestApp
    private let scene: AnalyticsScene
    private let meter: ReadMeter

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        meter = try ReadMeter(app)
    }

    /// - Returns: how many rows each page has.
    private func follow(_ path: String, _ list: String, _ member: String) throws -> (rows: [String], sizes: [Int]) {
        var (rows, sizes, cursor): ([String], [Int], String?) = ([], [], "")
        while let position = cursor {
            let page = try meter.measure { [scene] in
                scene.get("\(path)?limit=200" + (position.isEmpty ? "" : "&cursor=\(position)"), $0)
            }
            #expect(page.cost.bytesSent < PageKeys<Int64>.byteBudget + 100_000)
            let json = page.answer.json
            let found = json[list]?.array ?? []
            rows += found.map { $0[member]?.string ?? "null" }
            sizes.append(found.count)
            cursor = json["cursor"]?.string
            #expect(json["has_more"] == .bool(cursor != nil))
        }
        return (rows, sizes)
    }

    @Test func largeEventsMakeShortPages() throws {
        for number in 0..<30 {
            try scene.insertEvent("\(number)", at: app.time.now - .seconds(number), screen: "\(number)")
        }
        try app.change("UPDATE events SET message = REPEAT('m', 1000000)")
        let (rows, sizes) = try follow("/v1/events", "events", "screen_name")
        #expect(rows == (0..<30).map { "\($0)" })
        #expect(sizes == [4, 4, 4, 4, 4, 4, 4, 2])
    }

    /// Attributes count with their size after parsing.
    @Test func attributesCountEightfold() throws {
        for number in 0..<5 {
            try scene.insertEvent("m", at: app.time.now - .seconds(number), screen: "\(number)")
        }
        try app.change("UPDATE events SET custom_attributes = CONCAT('{\"a\":\"', REPEAT('b', 250000), '\"}')")
        let (rows, sizes) = try follow("/v1/events", "events", "screen_name")
        #expect(rows == (0..<5).map { "\($0)" } && sizes == [2, 2, 1])
    }

    @Test func oneThatIsTooLargeIsAPageByItself() throws {
        for number in 0..<3 {
            try scene.insertEvent("\(number)", at: app.time.now - .seconds(number), screen: "\(number)")
        }
        try app.change("UPDATE events SET message = REPEAT('m', 5000000) WHERE screen_name = '1'")
        var (sizes, cursor): ([Int], String?) = ([], "")
        while let position = cursor {
            let json = scene.get("/v1/events?cursor=\(position)", meter.client).json
            sizes.append(json["events"]?.array?.count ?? 0)
            cursor = json["cursor"]?.string
        }
        #expect(sizes == [1, 1, 1])
    }

    @Test func feedbackAndUsersHaveThatBudgetToo() throws {
        for number in 0..<40 {
            let user = try scene.insertUser("\(number)", at: app.time.now - .seconds(number))
            try scene.insertFeedback("\(number)", of: user, at: app.time.now - .seconds(number))
        }
        try app.change(#"UPDATE app_users SET properties = CONCAT('{"a":"', REPEAT('b', 250000), '"}')"#)
        let expected = (0..<40).map { "\($0)" }
        let feedback = try follow("/v1/feedback", "feedback", "message")
        let users = try follow("/v1/app-users", "users", "user_id")
        for (rows, sizes) in [feedback, users] {
            #expect(rows == expected)
            #expect(sizes == [16, 16, 8])
        }
        // The ids that a user has claimed count, too.
        try app.change("UPDATE app_users SET properties = NULL")
        try app.change(
            """
            INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at)
            SELECT u.project_id, CONCAT('owl_anon_', seq), u.id, ? FROM app_users u JOIN seq_1_to_2000
            WHERE CAST(u.user_id AS UNSIGNED) < 10
            """, app.time.now)
        let claims = try follow("/v1/app-users", "users", "user_id")
        #expect(claims.rows == expected && claims.sizes == [8, 32])
    }
}
