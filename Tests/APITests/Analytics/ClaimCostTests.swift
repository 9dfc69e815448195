import API
import Analytics
import Database
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Guarantee 1 of analytics §16: the cost of a claim does not depend on the history of the anonymous user.
@Suite struct ClaimCostTests {
    /// The server's work for a claim.
    private struct Cost: Equatable {
        /// Rows inserted, updated and deleted.
        var rowsWritten: Int
        var rowsRead: Int
        var statements: Int
    }

    /// The claim of a user with this many events, on a connection that has made a claim before.
    private func claim(events: Int) throws -> (count: Int, cost: Cost, repeated: Cost, touched: [String]) {
        let app = try TestApp()
        let scene = try AnalyticsScene(app)
        let client = app.client()
        for user in ["owl_anon_a", "owl_anon_b", "u", "v"] {
            #expect(client.send(scene.properties(.string(user), ["a": "b"])).status == 200)
        }
        // A million seconds of one month, because each month has its own counter.
        try scene.store(events, of: "owl_anon_a", from: app.time.now - .seconds(32 * 86_400), copies: false)
        let database = try scene.database()
        let key = try database.read { try app.service.analytics.authenticate(scene.clientKey, $0) }
        let project = try #require(key.app?.project)

        func claim(_ anonymous: String, _ user: String) throws -> Int {
            try app.service.analytics.claim(
                Claim(anonymousID: EndUserID(rawValue: anonymous), userID: EndUserID(rawValue: user)), in: project,
                KeyProof(read: key), database)
        }
        // Each connection prepares a statement only once.
        _ = try claim("owl_anon_b", "v")
        try app.change("SET GLOBAL userstat = 1")
        try app.change("FLUSH TABLE_STATISTICS")
        var count = 0
        let cost = try cost(database) { count = try claim("owl_anon_a", "u") }
        let touched = try app.column(
            """
            SELECT TABLE_NAME FROM information_schema.TABLE_STATISTICS
            WHERE TABLE_SCHEMA = ? AND ROWS_READ + ROWS_CHANGED > 0 ORDER BY TABLE_NAME
            """, app.database.name)
        let repeated = try self.cost(database) { _ = try claim("owl_anon_a", "u") }
        try scene.expectClean()
        return (count, cost, repeated, touched)
    }

    private func cost(_ database: Database, of work: () throws -> Void) throws -> Cost {
        // The measurement is itself a statement.
        let idle = try status(database)
        let before = try status(database)
        try work()
        let after = try status(database)
        return Cost(
            rowsWritten: after.rowsWritten - before.rowsWritten - (before.rowsWritten - idle.rowsWritten),
            rowsRead: after.rowsRead - before.rowsRead - (before.rowsRead - idle.rowsRead),
            statements: after.statements - before.statements - (before.statements - idle.statements))
    }

    private func status(_ database: Database) throws -> Cost {
        try database.read { connection in
            var values: [String: Int] = [:]
            for row in try connection.query(
                "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler%' OR Variable_name = 'Questions'")
            {
                let text = row.map { String(decoding: $0 ?? [], as: UTF8.self) }
                values[text[0]] = Int(text[1])
            }
            func sum(_ names: String...) -> Int { names.reduce(0) { $0 + (values[$1] ?? 0) } }
            return Cost(
                rowsWritten: sum("Handler_write", "Handler_update", "Handler_delete"),
                rowsRead: values.filter { $0.key.hasPrefix("Handler_read") }.values.reduce(0, +),
                statements: sum("Questions"))
        }
    }

    @Test func aMillionEventsCostWhatTenDo() throws {
        let (few, many) = (try claim(events: 10), try claim(events: 1_000_000))
        #expect(few.count == 10)
        #expect(many.count == 1_000_000)
        #expect(few.cost == many.cost)
        #expect(few.cost.rowsWritten > 0)
        #expect(few.repeated == many.repeated)
        let eventTables = EventTable.allCases.map(\.name)
        #expect(many.touched.contains("app_users"))
        #expect(Set(many.touched).isDisjoint(with: eventTables), "\(many.touched)")
    }

    @Test func aRepeatedClaimIsOneStatement() throws {
        let repeated = try claim(events: 10).repeated
        #expect(repeated.statements == 1)
        #expect(repeated.rowsWritten == 0)
    }

    /// Finding the owner of an id reads only its latest claim, however many there are.
    @Test func anIDThatManyClaimedCostsWhatOneThatFewDidDoes() throws {
        func costs(claims count: Int) throws -> [String: Int] {
            let app = try TestApp()
            let scene = try AnalyticsScene(app)
            try scene.makeQuestionnaire()
            for number in 1...count { _ = try scene.insertUser("user \(number)") }
            try app.change(
                """
                INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at)
                SELECT project_id, 'owl_anon_a', id, '2026-05-01' + INTERVAL id SECOND FROM app_users ORDER BY RAND(1)
                """)
            try app.change("ANALYZE TABLE identity_claims, app_users")
            let meter = try ReadMeter(app)
            func requests(_ round: Int) -> [String: RepeatableRequest] {
                let (own, other) = (scene.event(of: "owl_anon_a"), scene.event(of: "user 1"))
                return [
                    "claim": scene.claim("owl_anon_a", .string("newcomer \(round)")),
                    "properties": scene.properties("owl_anon_a", ["a": .string("\(round)")]),
                    "questionnaire": scene.show("survey", "&user_id=owl_anon_a"),
                    "one user's events": scene.ingest([own]), "two users' events": scene.ingest([own, other]),
                ]
            }
            // Each connection prepares a statement only once.
            for request in requests(1).values { #expect(meter.client.send(request).status == 200) }
            return try requests(2).mapValues { request in
                let (answer, cost) = try meter.measure { $0.send(request) }
                #expect(answer.status == 200)
                let claims = cost.plan.filter { $0.table == "c" || $0.table == "identity_claims" }
                #expect(claims.allSatisfy { !$0.extra.contains("filesort") }, "\(claims)")
                return cost.rowsRead
            }
        }
        let (few, many) = (try costs(claims: 3), try costs(claims: 1000))
        for (request, rows) in few {
            let grown = try #require(many[request])
            #expect(grown <= rows + 5, "\(request): \(rows), \(grown)")
        }
    }

    /// The statistics that the first two tests read do count uses of the event tables.
    @Test func theServersStatisticsSeeTheEventTables() throws {
        let app = try TestApp()
        let scene = try AnalyticsScene(app)
        _ = app.client().send(scene.properties("u", ["a": "b"]))
        try app.change("SET GLOBAL userstat = 1")
        try scene.store(3, of: "u", from: app.time.now - .seconds(3))
        let changed = try app.column(
            """
            SELECT TABLE_NAME FROM information_schema.TABLE_STATISTICS
            WHERE TABLE_SCHEMA = ? AND ROWS_CHANGED > 0 AND TABLE_NAME IN ('events', 'funnel_events', 'metric_events')
            ORDER BY TABLE_NAME
            """, app.database.name)
        #expect(changed == ["events", "funnel_events", "metric_events"])
    }
}
