import MariaDB
import TestSupport
import Testing

/// The metrics about the jobs, before and after each job has run.
@Suite struct UpkeepTests {
    @Test func workLeftUndoneShowsUntilItsJobHasRun() throws {
        let installation = try Installation([
            "MERGANSER_TOMBSTONE_GRACE_SECONDS": "0", "MERGANSER_ANONYMOUS_INACTIVE_DAYS": "30",
        ])
        let db = try installation.database.connect()
        let idle = try upkeep(of: installation)
        #expect(idle["gc"] == 0 && idle["compact"] == 0 && idle["attachments"] == 0 && idle["dispatch"] == 0)
        #expect(idle["purge"] == 0 && idle["prune"] == 0)
        #expect(idle["months"] == 0 && idle["signing key"] == nil)

        try db.execute(
            "INSERT INTO rate_limits (digest, count, expires_at) VALUES (?, 1, UTC_TIMESTAMP(3) - INTERVAL 5 HOUR)",
            [UInt8](repeating: 1, count: 32))
        try db.executeScript(
            """
            INSERT INTO users (deleted_at, purge_at)
                VALUES (UTC_TIMESTAMP() - INTERVAL 31 DAY, UTC_TIMESTAMP() - INTERVAL 5 HOUR);
            INSERT INTO users (anonymous, last_active_at) VALUES (TRUE, UTC_TIMESTAMP() - INTERVAL (30 * 24 + 5) HOUR);
            """)
        for command in ["generate", "activate"] {
            #expect(try installation.tool("signing-key", command).exit == .status(0))
        }
        let late = try upkeep(of: installation)
        #expect((18_000..<18_600).contains(try #require(late["gc"])))
        for task in ["purge", "prune"] { #expect((18_000..<18_600).contains(try #require(late[task])), "\(task)") }
        #expect((0..<600).contains(try #require(late["signing key"])))

        for command in [["gc"], ["retention"], ["purge"], ["anonymous", "prune"]] {
            #expect(try installation.tool(command).exit == .status(0))
        }
        let done = try upkeep(of: installation)
        #expect(done["gc"] == 0 && done["purge"] == 0 && done["prune"] == 0)
        #expect(try #require(done["months"]) > 80 * 86_400)
    }

    /// Tombstones stay while a merge can be undone, and are not late then.
    @Test func compactionIsLateWhenTombstonesAreDue() throws {
        let installation = try Installation(["MERGANSER_TOMBSTONE_GRACE_SECONDS": "3600", "MERGANSER_UNDO_DAYS": "3"])
        let db = try installation.database.connect()
        func mergeRecords(hoursAgo hours: Int, accounts: Bool) throws {
            try db.executeScript(
                """
                SET @team = RANDOM_BYTES(16), @project = RANDOM_BYTES(16);
                SET @slug = HEX(@project);
                SET @then = UTC_TIMESTAMP(3) - INTERVAL \(hours) HOUR;
                INSERT INTO teams (id, name, created_at) VALUES (@team, 'Team', @then);
                INSERT INTO projects (id, team_id, name, slug, created_at, accounts)
                VALUES (@project, @team, 'Project', @slug, @then, \(accounts));
                INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at)
                VALUES (RANDOM_BYTES(16), @project, 'u', FALSE, @then, @then);
                INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, merged_into, merged_at,
                                       first_seen_at, last_seen_at)
                VALUES (RANDOM_BYTES(16), @project, 'a', TRUE, LAST_INSERT_ID(), @then, @then, @then);
                """)
        }
        func delay() throws -> Int? { try upkeep(of: installation)["compact"].map { Int($0) / 3600 } }
        try mergeRecords(hoursAgo: 71, accounts: true)
        #expect(try delay() == 0)
        try mergeRecords(hoursAgo: 6, accounts: false)
        #expect(try delay() == 5)
        try mergeRecords(hoursAgo: 79, accounts: true)
        #expect(try delay() == 7)
        #expect(try installation.tool("compact").exit == .status(0))
        #expect(try delay() == 0)
    }

    /// The metrics of a server that has just started, by short names. It reads them at once, and then twice a minute.
    private func upkeep(of installation: Installation) throws -> [String: Double] {
        let server = try installation.readyServer()
        var found: [String: Double] = [:]
        try server.wait(for: "a look at what the jobs left undone") {
            let text = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
            let metrics = try Exposed(text)
            found["months"] = metrics["merganser_event_partitions_ahead_seconds"]
            found["signing key"] = metrics["merganser_signing_key_age_seconds"]
            for task in ["gc", "compact", "attachments", "dispatch", "purge", "prune"] {
                found[task] = metrics["merganser_upkeep_delay_seconds", "{task=\"\(task)\"}"]
            }
            return found["months"] != nil
        }
        server.terminate()
        try server.waitForExit()
        return found
    }
}
