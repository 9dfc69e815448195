import Analytics
import AnalyticsJobs
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// The cost of list pages, in rows that the server reads, with 48 000 rows in each list (analytics §13).
@Suite struct ListCostTests {
    private static let rows = 48_000
    /// The rows that a page reads besides its own: the key, apps, projects, and the start of each range in each
    /// partition.
    private static let overhead = 200
    /// The rows that a page checks against a filter that no index serves.
    private static let bound = 10_000

    private let app: TestApp
    private let scene: AnalyticsScene
    private let meter: ReadMeter

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        meter = try ReadMeter(app)
    }

    // MARK: Rows

    private static let session = "00000000-0000-4000-8000-0000000000aa"

    /// As many rows at a time as one statement can insert within its time limit.
    private func inParts(_ insert: (_ part: Int) throws -> Void) throws { for part in 0..<6 { try insert(part) } }

    /// Events of one user and one session in two apps, two at a time, over seven monthly partitions.
    ///
    /// - Parameter isDev: whether all events but each app's 77th are development events.
    private func makeEvents(isDev: Bool = false) throws {
        _ = try scene.makeApp()
        let user = try scene.insertUser("u")
        try app.change(
            """
            ALTER TABLE events PARTITION BY RANGE COLUMNS (timestamp) (
                PARTITION p1 VALUES LESS THAN ('2026-01-01'), PARTITION p2 VALUES LESS THAN ('2026-02-01'),
                PARTITION p3 VALUES LESS THAN ('2026-03-01'), PARTITION p4 VALUES LESS THAN ('2026-04-01'),
                PARTITION p5 VALUES LESS THAN ('2026-05-01'), PARTITION p6 VALUES LESS THAN ('2026-06-01'),
                PARTITION later VALUES LESS THAN (MAXVALUE))
            """)
        try inParts { part in
            try app.change(
                """
                INSERT INTO events (id, app_id, session_id, app_user_id, level, message, screen_name, environment, is_dev,
                                    timestamp, received_at)
                SELECT UNHEX(CONCAT(LPAD(HEX(seq), 12, '0'), '7000800000000000', LPAD(HEX(number), 4, '0'))), a.id,
                       UNHEX('000000000000400080000000000000AA'), ?, 'info', CONCAT('event ', seq, ' ', number), 'Home',
                       'ios', seq <> 77 AND ?, '2026-01-15' + INTERVAL seq * 400 SECOND, ?
                FROM seq_1_to_24000 JOIN (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS number FROM apps) a
                WHERE seq % 6 = ?
                """, user, isDev, app.time.now, part)
        }
        try app.change("ANALYZE TABLE events")
    }

    private func makeUsers() throws {
        try inParts { part in
            try app.change(
                """
                INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at, is_dev)
                SELECT UNHEX(CONCAT(LPAD(HEX(seq), 12, '0'), '70008000000000000000')), p.id, CONCAT('user ', seq), FALSE,
                       '2026-01-15' + INTERVAL seq SECOND, '2026-01-16' + INTERVAL seq SECOND, FALSE
                FROM seq_1_to_48000 JOIN projects p WHERE seq % 6 = ?
                """, part)
        }
        try inParts { part in
            try app.change(
                """
                INSERT INTO app_user_apps (app_user_id, app_id, first_seen_at, last_seen_at)
                SELECT u.id, a.id, u.first_seen_at, u.last_seen_at FROM app_users u JOIN apps a WHERE u.id % 6 = ?
                """, part)
        }
        try app.change("ANALYZE TABLE app_users, app_user_apps")
    }

    private func makeFeedback() throws {
        try inParts { part in
            try app.change(
                """
                INSERT INTO feedback (id, app_id, project_id, message, is_dev, created_at, updated_at)
                SELECT UNHEX(CONCAT(LPAD(HEX(seq), 12, '0'), '70008000000000000000')), a.id, a.project_id, 'message',
                       FALSE, '2026-01-15' + INTERVAL seq DIV 2 SECOND, ?
                FROM seq_1_to_48000 JOIN apps a WHERE seq % 6 = ?
                """, app.time.now, part)
        }
        try app.change("ANALYZE TABLE feedback")
    }

    private func makeAttachments() throws {
        try inParts { part in
            try app.change(
                """
                INSERT INTO event_attachments (id, project_id, app_id, event_client_id, event_id, original_filename,
                                               content_type, size_bytes, sha256, is_dev, created_at)
                SELECT UNHEX(CONCAT(LPAD(HEX(seq), 12, '0'), '70008000000000000000')), a.project_id, a.id,
                       UNHEX('000000000000400080000000000000CC'), UNHEX('000000000000400080000000000000DD'), 'a.txt',
                       'text/plain', 1, REPEAT('a', 64), FALSE, '2026-01-15' + INTERVAL seq DIV 2 SECOND
                FROM seq_1_to_48000 JOIN apps a WHERE seq % 6 = ?
                """, part)
        }
        try app.change("ANALYZE TABLE event_attachments")
    }

    // MARK: Requests

    private func get(_ path: String) -> (Client) -> Answer {
        { [scene] client in scene.get(path, client) }
    }

    private func cursor(_ sql: StaticString) throws -> String {
        let position = try app.sql { db in
            try db.first(sql) { row in Cursor(time: try row.read(), id: try row.read(ListedEvent.ID.self)) }
        }
        return try #require(position).description
    }

    /// A page near the end of the list costs as much as the first page, and in proportion to the rows that it shows.
    private func expectEvenCost(_ path: String, _ list: String, deep cursor: String, keys: [String: Int]) throws {
        let separator = path.contains("?") ? "&" : "?"
        let first = try meter.measure(get("\(path)\(separator)limit=200"))
        let deep = try meter.measure(get("\(path)\(separator)limit=200&cursor=\(cursor)"))
        for page in [first, deep] {
            #expect(page.answer[list]?.array?.count == 200, "\(path)")
            #expect(page.answer["has_more"] == true, "\(path)")
        }
        #expect(abs(deep.cost.rowsRead - first.cost.rowsRead) <= 200, "\(path)")
        // For each row: the index entry, the merge of the sources, its size, and the row with its user.
        #expect(deep.cost.rowsRead < 200 * 16 + Self.overhead, "\(path): \(deep.cost.rowsRead)")
        // The range uses all parts of the key.
        var seen: Set<String> = []
        for line in deep.cost.plan {
            guard let length = keys[line.key] else { continue }
            seen.insert(line.key)
            #expect(line.type == "range" && line.keyLength >= length, "\(path): \(line)")
        }
        #expect(seen == Set(keys.keys), "\(path): \(deep.cost.plan)")
        #expect(!deep.cost.plan.contains { $0.type == "index" || $0.table == "e" && $0.type == "ALL" }, "\(path)")
    }

    // MARK: Depth

    @Test func pagesOfEventsCostTheSameWhereverTheyAre() throws {
        try makeEvents()
        let scopes: [(query: String, index: String, length: Int)] = [
            ("", "events_app", 40), ("app_id=\(scene.appID)", "events_app", 40),
            ("project_id=\(scene.project)", "events_app", 40), ("data_mode=all", "events_app", 40),
            ("since=2026-01-16&until=2026-05-10", "events_app", 40),
        ]
        for order in ["desc", "asc"] {
            let deep =
                order == "desc"
                ? try cursor("SELECT timestamp, id FROM events ORDER BY timestamp, id LIMIT 1 OFFSET 4000")
                : try cursor("SELECT timestamp, id FROM events ORDER BY timestamp DESC, id DESC LIMIT 1 OFFSET 4000")
            for scope in scopes {
                try expectEvenCost(
                    "/v1/events?order=\(order)&\(scope.query)", "events", deep: deep, keys: [scope.index: scope.length])
            }
        }
    }

    /// The apps are a condition that no index serves, so the page's end is looked up first.
    @Test func pagesOfAUserOrASessionAreBounded() throws {
        try makeEvents()
        let scopes = [("user_id=u", "events_user", 33), ("session_id=\(Self.session)", "events_session", 40)]
        for order in ["desc", "asc"] {
            let deep =
                order == "desc"
                ? try cursor("SELECT timestamp, id FROM events ORDER BY timestamp, id LIMIT 1 OFFSET 12000")
                : try cursor("SELECT timestamp, id FROM events ORDER BY timestamp DESC, id DESC LIMIT 1 OFFSET 12000")
            for (query, index, length) in scopes {
                let path = "/v1/events?limit=200&order=\(order)&\(query)"
                let (first, deep) = (try meter.measure(get(path)), try meter.measure(get(path + "&cursor=\(deep)")))
                #expect(deep.answer["events"]?.array?.count == 200)
                #expect(abs(deep.cost.rowsRead - first.cost.rowsRead) <= 200)
                #expect(deep.cost.rowsRead < Self.bound + 200 * 16 + Self.overhead)
                let lines = deep.cost.plan.filter { $0.key == index }
                #expect(
                    lines.count >= 2 && lines.allSatisfy { $0.type == "range" && $0.keyLength >= length }, "\(lines)")
            }
        }
    }

    @Test func pagesOfUsersCostTheSameWhereverTheyAre() throws {
        try makeUsers()
        let deep = Cursor<Int64>(time: try #require(Timestamp(iso8601: "2026-01-16T01:00:00Z")), id: 7).description
        for (query, index) in [
            ("sort=last_seen", "app_users_last_seen"), ("sort=first_seen&data_mode=all", "app_users_first_seen"),
            ("project_id=\(scene.project)&since=2026-01-15&until=2026-02-01", "app_users_last_seen"),
        ] {
            let deep =
                index == "app_users_last_seen"
                ? deep
                : Cursor<Int64>(time: try #require(Timestamp(iso8601: "2026-01-15T01:00:00Z")), id: 7).description
            try expectEvenCost("/v1/app-users?\(query)", "users", deep: deep, keys: [index: 41])
        }
        // Each user of the project is checked for a visit to the app.
        let path = "/v1/apps/\(scene.appID)/users?limit=200"
        let (first, last) = (try meter.measure(get(path)), try meter.measure(get(path + "&cursor=\(deep)")))
        #expect(last.answer["users"]?.array?.count == 200)
        #expect(abs(last.cost.rowsRead - first.cost.rowsRead) <= Self.bound)
        #expect(max(first.cost.rowsRead, last.cost.rowsRead) < Self.bound + 2 * 2000 + 200 * 16 + Self.overhead)
    }

    @Test func pagesOfFeedbackCostTheSameWhereverTheyAre() throws {
        try makeFeedback()
        let deep = try cursor("SELECT created_at, id FROM feedback ORDER BY created_at, id LIMIT 1 OFFSET 4000")
        for path in [
            "/v1/feedback", "/v1/feedback?app_id=\(scene.appID)", "/v1/feedback?data_mode=all",
            "/v1/projects/\(scene.project)/feedback",
        ] {
            try expectEvenCost(path, "feedback", deep: deep, keys: ["feedback_app": 48])
        }
        for path in ["/v1/feedback?status=new", "/v1/feedback?status=new&data_mode=all"] {
            try expectEvenCost(path, "feedback", deep: deep, keys: ["feedback_status": 66])
        }
    }

    @Test func pagesOfAttachmentsCostTheSameWhereverTheyAre() throws {
        try makeAttachments()
        let deep = try cursor(
            "SELECT created_at, id FROM event_attachments ORDER BY created_at, id LIMIT 1 OFFSET 4000")
        for path in ["/v1/attachments", "/v1/attachments?project_id=\(scene.project)"] {
            try expectEvenCost(path, "attachments", deep: deep, keys: ["event_attachments_app": 47])
        }
        try expectEvenCost(
            "/v1/attachments?event_client_id=00000000-0000-4000-8000-0000000000cc", "attachments", deep: deep,
            keys: ["event_attachments_client_created": 63])
        try app.change("UPDATE event_attachments SET issue_id = UNHEX('000000000000400080000000000000EE')")
        try expectEvenCost(
            "/v1/attachments?issue_id=00000000-0000-4000-8000-0000000000ee", "attachments", deep: deep,
            keys: ["event_attachments_issue": 64])
        let path = "/v1/attachments?event_id=00000000-0000-4000-8000-0000000000dd&limit=200"
        let page = try meter.measure(get(path + "&cursor=\(deep)"))
        #expect(page.answer["attachments"]?.array?.count == 200)
        let lines = page.cost.plan.filter { $0.key == "event_attachments_event" }
        #expect(!lines.isEmpty && lines.allSatisfy { $0.type == "range" && $0.keyLength >= 48 }, "\(lines)")
    }

    // MARK: Filters

    /// The rows of a list in pages of 200. No page checks more rows than it may.
    private func follow(_ path: String, _ list: String, _ member: String) throws -> (rows: [String], pages: Int) {
        var (rows, pages, cursor): ([String], Int, String?) = ([], 0, "")
        while let position = cursor {
            let page = try meter.measure(get("\(path)&limit=200" + (position.isEmpty ? "" : "&cursor=\(position)")))
            // Looks up the page's end, and reads the rows before it with what the condition needs from other tables.
            #expect(page.cost.rowsRead < 3 * Self.bound + 200 * 16 + Self.overhead, "\(path)")
            rows += page.answer.all(member, in: list)
            pages += 1
            cursor = page.answer["cursor"]?.string
            #expect(page.answer["has_more"] == .bool(cursor != nil))
            if pages > 20 { break }
        }
        return (rows, pages)
    }

    @Test func eventsThatAreRareAreFoundPageByPage() throws {
        try makeEvents()
        try app.change(
            """
            UPDATE events SET level = 'error', screen_name = 'Rare', environment = 'watchos'
            WHERE message IN ('event 20 1', 'event 12000 2', 'event 23990 1')
            """)
        for order in ["desc", "asc"] {
            let expected = ["event 23990 1", "event 12000 2", "event 20 1"]
            for query in [
                "level=error", "screen_name=Rare", "environment=watchos", "level=error&user_id=u",
                "screen_name=Rare&session_id=\(Self.session)", "level=error&data_mode=all",
            ] {
                let (rows, pages) = try follow("/v1/events?order=\(order)&\(query)", "events", "message")
                #expect(rows == (order == "desc" ? expected : expected.reversed()), "\(query)")
                // Development rows are a source of their own, which might have as many rows.
                #expect(pages == (query.contains("data_mode=all") ? 10 : 5), "\(query)")
            }
        }
        #expect(try follow("/v1/events?level=warn", "events", "message") == ([], 5))
        #expect(try follow("/v1/events?level=error&since=2026-05-05", "events", "message") == (["event 23990 1"], 1))
    }

    @Test func usersThatAreRareAreFoundPageByPage() throws {
        try makeUsers()
        try app.change(
            """
            UPDATE app_users SET is_anonymous = TRUE, properties = '{"rc_subscriber":"true"}'
            WHERE user_id IN ('user 7', 'user 30007')
            """)
        for query in ["search=0007", "is_anonymous=true", "billing_status=paid"] {
            let (rows, pages) = try follow("/v1/app-users?\(query)", "users", "user_id")
            #expect(
                rows
                    == (query == "search=0007"
                        ? ["user 40007", "user 30007", "user 20007", "user 10007"] : ["user 30007", "user 7"]))
            #expect(pages == 5)
        }
        // The times are those of the last visit.
        let until = "until=2026-01-16T00:00:05Z&sort=first_seen"
        #expect(
            try follow("/v1/app-users?\(until)", "users", "user_id") == (
                ["user 5", "user 4", "user 3", "user 2", "user 1"], 5
            ))
        // An app with few users shows all of them at once, wherever they are in the project.
        try app.change(
            """
            DELETE a FROM app_user_apps a JOIN app_users u ON u.id = a.app_user_id
            WHERE u.user_id NOT IN ('user 7', 'user 30007')
            """)
        for sort in ["last_seen", "first_seen"] {
            let path = "/v1/apps/\(scene.appID)/users?sort=\(sort)"
            #expect(try follow(path, "users", "user_id") == (["user 30007", "user 7"], 1))
        }
        let first = scene.get("/v1/apps/\(scene.appID)/users?limit=1", meter.client)
        #expect(first.all("user_id", in: "users") == ["user 30007"])
        let path = "/v1/apps/\(scene.appID)/users?limit=1&cursor=\(first["cursor"]?.string ?? "")"
        #expect(scene.get(path, meter.client).all("user_id", in: "users") == ["user 7"])
    }

    @Test func feedbackThatIsRareIsFoundAtOnce() throws {
        try makeFeedback()
        try app.change(
            """
            UPDATE feedback SET status = 'seen', message = 'rare'
            WHERE id = UNHEX('00000000000770008000000000000000')
            """)
        #expect(try follow("/v1/feedback?status=seen", "feedback", "message") == (["rare"], 1))
        let page = try meter.measure(get("/v1/feedback?status=seen&data_mode=all"))
        #expect(page.answer.all("message", in: "feedback") == ["rare"])
        #expect(page.cost.rowsRead < 16 + Self.overhead)
    }

    @Test func attachmentsOfAnIssueAreFoundAtOnce() throws {
        try makeAttachments()
        let issue = "issue_id=00000000-0000-4000-8000-000000000001"
        try app.change(
            """
            UPDATE event_attachments SET issue_id = UNHEX('00000000000040008000000000000001')
            WHERE id = UNHEX('00000000000770008000000000000000')
            """)
        let rare = ["00000000-0007-7000-8000-000000000000"]
        #expect(try follow("/v1/attachments?\(issue)", "attachments", "id") == (rare, 1))
        let page = try meter.measure(get("/v1/attachments?\(issue)"))
        #expect(page.cost.rowsRead < 16 + Self.overhead)
        let event = "event_id=00000000-0000-4000-8000-0000000000dd"
        #expect(try follow("/v1/attachments?\(event)&\(issue)", "attachments", "id") == (rare, 5))
    }

    // MARK: Plans

    @Test func whatIsForDevelopmentDoesNotStandInProductionsWay() throws {
        try makeEvents(isDev: true)
        let page = try meter.measure(get("/v1/events"))
        #expect(Set(page.answer.all("message", in: "events")) == ["event 77 1", "event 77 2"])
        #expect(page.answer["has_more"] == false)
        #expect(page.cost.rowsRead < Self.overhead)
    }

    @Test func timesFarBackAreARangeAfterCompactionToo() throws {
        try makeEvents()
        let owner = try scene.insertUser("owner")
        try app.change(
            "UPDATE app_users SET is_anonymous = TRUE, merged_into = ?, merged_at = ? WHERE user_id = 'u'", owner,
            app.time.now - .seconds(86_400))
        let compaction = scene.compaction()
        _ = try compaction.run(scene.database())
        try app.change("ANALYZE TABLE events")
        for query in ["until=2026-01-20", "since=2026-05-05", "until=2026-01-20&order=asc"] {
            let page = try meter.measure(get("/v1/events?\(query)"))
            #expect(page.answer["events"]?.array?.count == 50)
            #expect(page.cost.rowsRead < 50 * 16 + Self.overhead, "\(query)")
        }
        let page = try meter.measure(get("/v1/events?user_id=owner&until=2026-01-20"))
        #expect(page.answer["events"]?.array?.count == 50)
        #expect(page.cost.rowsRead < Self.bound)
    }

    @Test func countsReadTheIndexAlone() throws {
        try makeEvents()
        try app.change("UPDATE events SET level = 'error' WHERE message LIKE 'event 77 %'")
        for (query, count) in [
            ("", Self.rows), ("level=error&environment=ios", 2), ("data_mode=all", Self.rows),
            ("app_id=\(scene.appID)", Self.rows / 2), ("until=2026-01-16T00:00:00Z", 2 * 216),
        ] {
            let page = try meter.measure(get("/v1/events/count?\(query)"))
            #expect(page.answer["count"] == .integer(Int64(count)))
            let lines = page.cost.plan.filter { $0.table == "e" }
            #expect(lines.allSatisfy { $0.key == "events_app" && $0.extra.contains("Using index") }, "\(lines)")
            #expect(!lines.isEmpty)
        }
    }

    // MARK: Sources

    @Test func aUserOfManyTombstonesIsReadWhole() throws {
        let owner = try scene.insertUser("owner")
        for (first, last) in [(1, 200), (201, 1500)] {
            try app.change(
                """
                INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, merged_into, merged_at, first_seen_at,
                                       last_seen_at)
                SELECT UNHEX(CONCAT(LPAD(HEX(seq), 12, '0'), '70008000000000000000')), u.project_id,
                       CONCAT('owl_anon_', seq), TRUE, u.id, u.last_seen_at, u.first_seen_at, u.last_seen_at
                FROM seq_1_to_1500 JOIN app_users u ON u.id = ? WHERE seq BETWEEN ? AND ?
                """, owner, first, last)
            try app.change(
                """
                INSERT INTO events (id, app_id, session_id, app_user_id, level, message, is_dev, timestamp, received_at)
                SELECT u.public_id, a.id, u.public_id, u.id, 'info', u.user_id, FALSE,
                       u.last_seen_at - INTERVAL u.id SECOND, u.last_seen_at
                FROM app_users u JOIN apps a WHERE u.merged_into IS NOT NULL AND u.id >= ? + ?
                """, owner, first)
            for order in ["desc", "asc"] {
                var (seen, cursor): ([String], String?) = ([], "")
                while let position = cursor {
                    let page = try meter.measure(
                        get("/v1/events?user_id=owner&limit=200&order=\(order)&cursor=\(position)"))
                    #expect(page.cost.rowsRead < 2 * Self.bound + 200 * 16 + 4 * last)
                    seen += page.answer.all("message", in: "events")
                    cursor = page.answer["cursor"]?.string
                }
                let expected = (1...last).map { "owl_anon_\($0)" }
                #expect(seen == (order == "desc" ? expected : expected.reversed()))
            }
            let count = scene.get("/v1/events/count?user_id=owner", meter.client)
            #expect(count["count"] == .integer(Int64(last)) && count["unique_users"] == 1)
        }
    }

    @Test func aTeamOfManyAppsIsReadTogether() throws {
        for _ in 1..<150 { _ = try scene.makeApp() }
        let client = app.client()
        try app.change(
            """
            INSERT INTO events (id, app_id, session_id, level, message, is_dev, timestamp, received_at)
            SELECT UNHEX(CONCAT(LPAD(HEX(seq), 12, '0'), '7000800000000000', LPAD(HEX(number), 4, '0'))), a.id, a.id, 'info',
                   CONCAT(seq, ' ', number), FALSE, ? - INTERVAL seq SECOND, ?
            FROM seq_1_to_200 JOIN (SELECT id, ROW_NUMBER() OVER (ORDER BY id) AS number FROM apps) a
            WHERE number <= seq
            """, app.time.now, app.time.now)
        for (query, expected) in [("", 150 * 151 / 2 + 50 * 150), ("level=info&", 150 * 151 / 2 + 50 * 150)] {
            var (seen, cursor, pages): (Set<String>, String?, Int) = ([], "", 0)
            var count = 0
            while let position = cursor {
                let page = scene.get("/v1/events?\(query)limit=200&cursor=\(position)", client)
                let messages = page.all("message", in: "events")
                seen.formUnion(messages)
                count += messages.count
                cursor = page["cursor"]?.string
                pages += 1
            }
            #expect(seen.count == expected && count == expected, "\(query)")
            #expect(pages == (expected + 199) / 200)
        }
        #expect(try follow("/v1/events?level=error", "events", "message").rows.isEmpty)
    }
}
