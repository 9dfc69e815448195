import JSON
import MariaDB
import TestSupport
import Testing

/// A worker that dies in the middle of a merge (accounts §3.2).
@Suite struct MergeFaultTests {
    /// The locks where it is stopped: at the first row that moves, at the grants, at analytics' records and their counters, at
    /// the last one before COMMIT.
    @Test(arguments: [
        "SELECT * FROM devices FOR UPDATE", "SELECT * FROM grants FOR UPDATE", "SELECT * FROM app_users FOR UPDATE",
        "SELECT * FROM app_user_event_counts FOR UPDATE",
        "SELECT * FROM application_event_counters FOR UPDATE",
    ])
    func aKilledWorkerLeavesNothingAndTheRepetitionIsWhole(lock: String) throws {
        let installation = try Installation()
        let first = try installation.readyServer()
        let (survivor, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000001")
        let (absorbed, secret) = try installation.bootstrap("00000000-0000-0000-0000-000000000002")
        let db = try installation.database.connect()
        try db.executeScript(
            """
            UPDATE users SET anonymous = FALSE WHERE id = 1;
            INSERT INTO applications (id, client_id, name, client_type) VALUES (1, 'notes', 'Notes', 'public');
            INSERT INTO application_event_counters (application_id) VALUES (1);
            INSERT INTO grants (user_id, application_id, sub) VALUES (2, 1, '2');
            INSERT INTO teams (id, name, created_at) VALUES ('', 'Team', NOW());
            INSERT INTO projects (id, team_id, name, slug, accounts, created_at)
            SELECT '', id, 'Project', 'project', TRUE, NOW() FROM teams;
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at)
            SELECT RANDOM_BYTES(16), id, seq, FALSE, NOW(), NOW() FROM projects JOIN seq_1_to_2;
            INSERT INTO app_user_event_counts SELECT id, CURRENT_DATE, 1 FROM app_users;
            """)
        let issued = try installation.ask(
            "POST", "/api/v1/me/merge/session-token", headers: [("HTTP_AUTHORIZATION", "Bearer \(absorbed)")])
        let token = try #require(try JSONValue(json: issued.body)["session_token"]?.string)
        let body = #"{"target_session_token":"\#(token)"}"#
        let headers = [("HTTP_AUTHORIZATION", "Bearer \(survivor)"), ("HTTP_IDEMPOTENCY_KEY", "key")]
        let before = try installation.database.dump()

        let holder = try installation.database.connect()
        try holder.executeScript("START TRANSACTION; \(lock)")
        let client = try FastCGIClient(installation.directory.file("fastcgi.sock"))
        try client.send(
            FastCGIClient.request("POST", "/api/v1/me/merge", headers: headers, body: Array(body.utf8), keep: false))
        try first.wait(for: "the merge to stop at the lock") { try installation.database.hasLockWait(db) }
        first.kill()
        #expect(try first.waitForExit() == .signal(9))
        try holder.executeScript("ROLLBACK")
        let second = try installation.readyServer()
        try second.wait(for: "the dead worker's transaction to end") {
            try !installation.database.hasTransaction(db)
        }
        #expect(try installation.database.dump() == before)

        let merged = try installation.ask("POST", "/api/v1/me/merge", headers: headers, body: body)
        #expect(merged.status == 200, "\(String(decoding: merged.body, as: UTF8.self))")
        let again = try installation.ask("POST", "/api/v1/me/merge", headers: headers, body: body)
        #expect(again.body == merged.body && again.header("Idempotency-Replayed") == "true")
        let counts = try db.query(
            """
            SELECT (SELECT COUNT(*) FROM identity_links), (SELECT COUNT(*) FROM webhook_outbox),
                   (SELECT COUNT(*) FROM devices WHERE user_id = 1), (SELECT COUNT(*) FROM grants WHERE user_id = 1),
                   (SELECT o.user_id FROM app_users u JOIN app_users o ON o.id = u.merged_into WHERE u.user_id = '2'),
                   (SELECT SUM(n) FROM app_user_event_counts)
            """)
        #expect(counts[0].map { $0.map { String(decoding: $0, as: UTF8.self) } } == ["1", "1", "2", "1", "1", "2"])
        let reopened = try installation.ask(
            "POST", "/api/v1/devices",
            body: """
                {"device_uuid":"00000000-0000-0000-0000-000000000002","platform":"ios","device_secret":"\(secret)"}
                """)
        #expect(try JSONValue(json: reopened.body)["user"]?["id"] == 1)
        #expect(second.isRunning)
    }
}
