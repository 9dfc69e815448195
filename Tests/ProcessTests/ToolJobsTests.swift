import JSON
import MariaDB
import TestSupport
import Testing

/// `merganserctl compact`, `retention` and `verify` as an operator runs them.
@Suite struct ToolJobsTests {
    let installation: Installation
    private let db: Connection

    /// Forty users with a tombstone and its 150 rows each, merged long ago.
    init() throws {
        installation = try Installation()
        db = try installation.database.connect()
        try db.executeScript(
            """
            SET @team = RANDOM_BYTES(16), @project = RANDOM_BYTES(16), @app = RANDOM_BYTES(16);
            SET @then = NOW() - INTERVAL 2 DAY;
            INSERT INTO teams (id, name, created_at) VALUES (@team, 'Team', @then);
            INSERT INTO projects (id, team_id, name, slug, created_at) VALUES (@project, @team, 'Project', 'p', @then);
            INSERT INTO apps (id, team_id, project_id, name, platform, created_at)
            VALUES (@app, @team, @project, 'App', 'backend', @then);
            INSERT INTO app_users (id, public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at)
            SELECT seq, RANDOM_BYTES(16), @project, CONCAT('u', seq), FALSE, @then, @then FROM seq_1_to_40;
            INSERT INTO app_users (id, public_id, project_id, user_id, is_anonymous, merged_into, merged_at, first_seen_at,
                                   last_seen_at)
            SELECT 100 + seq, RANDOM_BYTES(16), @project, CONCAT('owl_anon_', seq), TRUE, seq, @then, @then, @then FROM seq_1_to_40;
            INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at)
            SELECT @project, CONCAT('owl_anon_', seq), seq, @then FROM seq_1_to_40;
            INSERT INTO events (id, app_id, session_id, app_user_id, level, message, is_dev, timestamp, received_at)
            SELECT RANDOM_BYTES(16), @app, RANDOM_BYTES(16), 101 + seq % 40, 'info', seq, FALSE, @then, @then FROM seq_1_to_2000;
            INSERT INTO metric_events (id, app_id, session_id, app_user_id, metric_slug, phase, is_dev, timestamp, received_at)
            SELECT id, app_id, session_id, app_user_id, 'm', 'record', is_dev, timestamp, received_at FROM events;
            INSERT INTO funnel_events (id, app_id, session_id, app_user_id, step_name, message, is_dev, timestamp, received_at)
            SELECT id, app_id, session_id, app_user_id, 's', message, is_dev, timestamp, received_at FROM events;
            INSERT INTO app_user_event_counts (app_user_id, month, n)
            SELECT seq, DATE_FORMAT(@then, '%Y-%m-01'), 50 FROM seq_1_to_40;
            """)
    }

    private func tombstones() throws -> Int {
        try db.first("SELECT COUNT(*) FROM app_users WHERE merged_into IS NOT NULL") { row in try row.read() } ?? 0
    }

    private func resolved() throws -> [String] {
        try ["events", "metric_events", "funnel_events"].flatMap { table in
            try db.query("SELECT CONCAT(id, ' ', app_user_id, ' ', user_id) FROM \(table)_resolved ORDER BY id").map {
                "\(table) \(String(decoding: $0[0] ?? [], as: UTF8.self))"
            }
        }
    }

    private func expectClean(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let outcome = try installation.tool("verify", "--json")
        #expect(outcome.exit == .status(0), sourceLocation: sourceLocation)
        #expect(try outcome.json() == ["clean": true, "violations": []], sourceLocation: sourceLocation)
    }

    // MARK: compact

    @Test func compactSaysWhatItDid() throws {
        let before = try installation.database.dump()
        let plan = try installation.tool("compact", "--dry-run", "--json")
        #expect(plan.exit == .status(0))
        #expect(try installation.database.dump() == before)
        let done: JSONValue = ["events": 2000, "funnel_events": 2000, "metric_events": 2000]
        #expect(try plan.json() == ["dry_run": true, "repointed": done, "folded": 0, "removed": 40])
        let outcome = try installation.tool("compact", "--json")
        #expect(outcome.exit == .status(0))
        #expect(outcome.errorOutput.isEmpty)
        #expect(try outcome.json() == ["dry_run": false, "repointed": done, "folded": 0, "removed": 40])
        let again = try installation.tool("compact")
        #expect(again.output == "records merged           0\nrecords removed          0\n")
        try expectClean()
    }

    @Test func compactWaitsForTheGracePeriod() throws {
        try db.execute("UPDATE app_users SET merged_at = NOW(3) - INTERVAL 590 SECOND WHERE merged_into IS NOT NULL")
        #expect(try installation.tool("compact", "--json").json()["removed"] == 0)
        let outcome = try installation.tool(
            "compact", "--json", setting: ["MERGANSER_TOMBSTONE_GRACE_SECONDS": "500"])
        #expect(try outcome.json()["removed"] == 40)
    }

    /// Where users are the accounts', merges can be undone for longer.
    @Test func compactWaitsForTheEndOfUndos() throws {
        func removed(_ setting: [String: String] = [:]) throws -> JSONValue? {
            try installation.tool("compact", "--dry-run", "--json", setting: setting).json()["removed"]
        }
        try db.execute("UPDATE projects SET accounts = TRUE")
        #expect(try removed() == 0)
        #expect(try removed(["MERGANSER_UNDO_DAYS": "3"]) == 0)
        #expect(try removed(["MERGANSER_UNDO_DAYS": "1"]) == 40)
        #expect(try removed(["MERGANSER_UNDO_DAYS": "0"]) == 40)
    }

    /// Guarantee 2 of analytics §16: the job is killed repeatedly, at different points.
    @Test func compactGoesOnAfterKills() throws {
        let before = try resolved()
        var kills = 0
        while try tombstones() > 0 {
            let count = try tombstones()
            let child = try ChildProcess(
                Repository.program("merganserctl"), ["compact", "--pause", "1"], environment: installation.environment)
            // At least one each time, so that the kills are at different places.
            try child.wait(for: "a tombstone to go") { try tombstones() < count }
            child.kill()
            if try child.waitForExit() == .signal(9) { kills += 1 }
            #expect(try resolved() == before)
            try expectClean()
        }
        #expect(kills > 1)
        #expect(try resolved() == before)
        #expect(try installation.tool("compact", "--json").json()["removed"] == 0)
        let strays = try db.first(
            "SELECT COUNT(*) FROM events e LEFT JOIN app_users u ON u.id = e.app_user_id WHERE u.is_anonymous IS NOT FALSE"
        ) { row in try row.read(Int.self) }
        #expect(strays == 0)
    }

    // MARK: retention

    @Test func retentionSaysWhatItDid() throws {
        try db.execute("UPDATE projects SET retention_days_events = 1")
        let before = try installation.database.dump()
        let plan = try installation.tool("retention", "--dry-run", "--json")
        #expect(try installation.database.dump() == before)
        let outcome = try installation.tool("retention", "--json")
        #expect(outcome.exit == .status(0))
        let tables = try #require(try outcome.json()["tables"]?.array)
        #expect(try plan.json()["tables"]?.array == tables)
        #expect(tables.map { $0["table"] } == ["events", "metric_events", "funnel_events"])
        #expect(tables.map { $0["rows_deleted"] } == [2000, 0, 0])
        // This month and those around it.
        #expect(tables.allSatisfy { ($0["months_made"]?.array ?? []).count >= 4 })
        try expectClean()
        let again = try installation.tool("retention")
        #expect(again.exit == .status(0))
        #expect(again.output.hasPrefix("events\n  months created         –\n"))
        #expect(again.output.contains("  rows deleted           0\n"))
    }

    @Test func retentionTellsWhoseAccountItNeeds() throws {
        let name = installation.database.name
        let user = "\(name)_rows"
        try db.executeScript(
            """
            CREATE USER \(user)@localhost;
            GRANT SELECT, INSERT, UPDATE, DELETE ON \(name).* TO \(user)@localhost;
            """)
        defer { try? db.executeScript("DROP USER \(user)@localhost") }
        let outcome = try installation.tool("retention", "--json", setting: ["MERGANSER_DATABASE_USER": user])
        #expect(outcome.exit == .status(1))
        let error = try outcome.errorJSON()
        #expect(error["error"] == "refused")
        #expect(error["message"]?.string?.contains("MERGANSER_DATABASE_USER") == true, "\(error)")
        #expect(
            try installation.tool("retention", "--dry-run", setting: ["MERGANSER_DATABASE_USER": user]).exit
                == .status(0))
    }

    @Test func migrationsMakeTheFirstMonths() throws {
        let installation = try Installation(migrated: false)
        #expect(try installation.tool("migrate", "up").exit == .status(0))
        let tables = try installation.tool("retention", "--dry-run", "--json").json()["tables"]?.array
        #expect(tables?.map { $0["months_made"] } == [[], [], []])
    }

    // MARK: verify

    @Test func verifyNamesWhatIsWrong() throws {
        #expect(try installation.tool("verify").output.wholeMatch(of: /clean: [0-9]+ rules hold\n/) != nil)
        try db.execute("UPDATE app_user_event_counts SET n = 49 WHERE app_user_id = 7")
        let before = try installation.database.dump()
        let words = try installation.tool("verify")
        #expect(words.exit == .status(1))
        #expect(words.output.contains("(counters_equal_rows)\n  app_user_event_counts 7 "))
        let outcome = try installation.tool("verify", "--json")
        #expect(outcome.exit == .status(1))
        let violations = try outcome.json()["violations"]?.array
        #expect(violations?.map { $0["rule"] } == ["counters_equal_rows"])
        #expect(violations?.first?["rows"]?.array?.count == 1)
        #expect(try installation.database.dump() == before)
    }
}
