import JSON
import MariaDB
import TestSupport
import Testing

@Suite struct ToolUserTests {
    @Test func showsWhatHangsOnAnAccount() throws {
        let installation = try Installation()
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id, anonymous, created_at, last_active_at) VALUES (7, 1, '2026-05-12 07:00:00', '2026-05-27 09:14:22');
            INSERT INTO users (id, deleted_at, purge_at) VALUES (8, '2026-05-27 09:14:22', '2026-06-26 09:14:22');
            INSERT INTO identities (user_id, provider, sub, email) VALUES (8, 'apple', 's', 'x@y.internal');
            INSERT INTO devices (id, user_id, device_uuid, platform, secret_digest, last_seen_at) VALUES
                (3, 7, 'A0000000-0000-0000-0000-000000000000', 'ios', REPEAT('d', 32), '2026-05-27 09:14:22'),
                (4, 7, 'b0000000-0000-0000-0000-000000000000', 'web', NULL, '2026-05-27 09:14:22');
            INSERT INTO paks (user_id, digest, scopes, revoked_at) VALUES
                (7, REPEAT('e', 32), 'profile:read', NULL), (7, REPEAT('f', 32), 'profile:read', NOW());
            """)
        let outcome = try installation.tool("user", "show", "7", "--json")
        #expect(outcome.exit == .status(0))
        #expect(
            outcome.output
                == #"{"id":7,"anonymous":true,"previously_anonymous":false,"name":null,"nickname":null,"#
                + #""contact_email":null,"role":"user","created_at":"2026-05-12T07:00:00Z","#
                + #""last_active_at":"2026-05-27T09:14:22Z","deleted_at":null,"purge_at":null,"merged_into":null,"#
                + #""identities":[],"devices":[{"id":3,"device_uuid":"A0000000-0000-0000-0000-000000000000","#
                + #""platform":"ios","has_secret":true,"last_seen_at":"2026-05-27T09:14:22Z"},"#
                + #"{"id":4,"device_uuid":"b0000000-0000-0000-0000-000000000000","platform":"web","has_secret":false,"#
                + #""last_seen_at":"2026-05-27T09:14:22Z"}],"grants":[],"live_paks":1,"#
                + #""pending_agent_approvals":0,"push_approvals":0}"# + "\n")
        let words = try installation.tool("user", "show", "7").output
        #expect(words.hasPrefix("user             7, anonymous, user\n"))
        #expect(words.contains("device           4 web b0000000-0000-0000-0000-000000000000, secret voided\n"))

        let deleted = try installation.tool("user", "show", "8", "--json").json()
        #expect(deleted["deleted_at"] == "2026-05-27T09:14:22Z")
        #expect(deleted["purge_at"] == "2026-06-26T09:14:22Z")
        #expect(deleted["identities"]?.array?.first?["email"] == .null)
    }

    @Test func saysThatThereIsNone() throws {
        let outcome = try Installation().tool("user", "show", "7", "--json")
        #expect(outcome.exit == .status(1))
        let error = try outcome.errorJSON()
        #expect(error["error"] == "not_found")
        #expect(error["message"]?.string?.hasPrefix("there is no user 7") == true)
    }

    @Test func givesARole() throws {
        let installation = try Installation()
        let db = try installation.database.connect()
        try db.executeScript("INSERT INTO users (id) VALUES (7); INSERT INTO users (id, deleted_at) VALUES (8, NOW());")
        for role in ["developer", "developer", "user", "admin"] {
            let outcome = try installation.tool("user", "set-role", "7", role, "--json")
            #expect(outcome.output == #"{"id":7,"role":"\#(role)"}"# + "\n")
            #expect(try installation.tool("user", "show", "7", "--json").json()["role"] == .string(role))
        }
        let audited = try db.all("SELECT CONCAT_WS(' ', user_id, actor, action, details) FROM audit_log ORDER BY id") {
            row in try row.read(String.self)
        }
        #expect(
            audited == [
                #"7 operator user.role_changed {"from":"user","to":"developer"}"#,
                #"7 operator user.role_changed {"from":"developer","to":"user"}"#,
                #"7 operator user.role_changed {"from":"user","to":"admin"}"#,
            ])
        for id in ["8", "9"] {
            let outcome = try installation.tool("user", "set-role", id, "admin", "--json")
            #expect(outcome.exit == .status(1))
            #expect(try outcome.errorJSON()["message"] == .string("there is no user \(id)"))
        }
        #expect(try installation.tool("user", "set-role", "7", "king").exit == .status(64))
    }

    @Test func collectsWhatExpiredAndNothingElse() throws {
        let installation = try Installation()
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id) VALUES (1);
            INSERT INTO applications (id, client_id, name, client_type) VALUES (1, 'notes', 'Notes', 'public');
            INSERT INTO grants (id, user_id, application_id, sub) VALUES (1, 1, 1, '1');
            INSERT INTO idempotency_records (caller_digest, key_digest, fingerprint, expires_at)
                SELECT UNHEX(SHA2(seq, 256)), REPEAT('k', 32), REPEAT('f', 32), NOW(3) - INTERVAL 1 SECOND FROM seq_1_to_1200;
            INSERT INTO idempotency_records (caller_digest, key_digest, fingerprint, expires_at)
                VALUES (REPEAT('c', 32), REPEAT('k', 32), REPEAT('f', 32), NOW(3) + INTERVAL 10 MINUTE);
            INSERT INTO swap_tickets (digest, user_id, provider, sub, expires_at) VALUES
                (REPEAT('a', 32), 1, 'apple', 'gone', NOW(3) - INTERVAL 1 SECOND),
                (REPEAT('b', 32), 1, 'apple', 'live', NOW(3) + INTERVAL 10 MINUTE);
            INSERT INTO merge_tokens (digest, user_id, sealed_token, copy_expires_at, expires_at) VALUES
                (REPEAT('a', 32), 1, NULL, NULL, NOW(3) - INTERVAL 31 DAY),
                (REPEAT('b', 32), 1, 'copy', NOW(3) - INTERVAL 1 SECOND, NOW(3) - INTERVAL 1 SECOND),
                (REPEAT('c', 32), 1, 'copy', NOW(3) + INTERVAL 5 MINUTE, NOW(3) + INTERVAL 5 MINUTE);
            INSERT INTO authorization_codes (grant_id, digest, expires_at) VALUES
                (1, REPEAT('a', 32), NOW(3) - INTERVAL 31 DAY), (1, REPEAT('b', 32), NOW(3) - INTERVAL 29 DAY);
            INSERT INTO web_sessions (digest, user_id, expires_at) VALUES
                (REPEAT('a', 32), 1, NOW(3) - INTERVAL 1 SECOND), (REPEAT('b', 32), 1, NOW(3) + INTERVAL 1 HOUR);
            INSERT INTO login_events (user_id, event, created_at) VALUES
                (1, 'session', NOW(3) - INTERVAL 8 DAY), (1, 'session', NOW(3) - INTERVAL 6 DAY);
            INSERT INTO paks (user_id, digest, scopes, revoked_at) VALUES
                (1, REPEAT('a', 32), '', NOW(3) - INTERVAL 31 DAY), (1, REPEAT('b', 32), '', NOW(3)),
                (1, REPEAT('c', 32), '', NULL);
            INSERT INTO rate_limits (digest, count, expires_at) VALUES
                (REPEAT('a', 32), 11, NOW(3) - INTERVAL 1 SECOND), (REPEAT('b', 32), 1, NOW(3) + INTERVAL 1 HOUR);
            INSERT INTO refresh_families
                (id, grant_id, sealed_answer, answered_scope, answer_expires_at, current_expires_at) VALUES
                (1, 1, 'answer', 'openid', NOW(3) - INTERVAL 1 SECOND, NOW(3) + INTERVAL 30 DAY),
                (2, 1, 'answer', 'openid', NOW(3) + INTERVAL 30 SECOND, NOW(3) - INTERVAL 29 DAY),
                (3, 1, NULL, NULL, NULL, NOW(3) - INTERVAL 31 DAY);
            INSERT INTO refresh_tokens (digest, refresh_family_id, expires_at) VALUES
                (REPEAT('a', 32), 1, NOW(3) - INTERVAL 1 SECOND), (REPEAT('b', 32), 1, NOW(3) + INTERVAL 30 DAY),
                (REPEAT('c', 32), 3, NOW(3) - INTERVAL 31 DAY);
            INSERT INTO revoked_access_tokens (jti, expires_at) VALUES
                (REPEAT('a', 24), NOW(3) - INTERVAL 1 SECOND), (REPEAT('b', 24), NOW(3) + INTERVAL 15 MINUTE);
            INSERT INTO device_codes
                (digest, user_code, application_id, scopes, interval_seconds, expires_at) VALUES
                (REPEAT('a', 32), 'BBBBBBBB', 1, '', 5, NOW(3) - INTERVAL 31 DAY),
                (REPEAT('b', 32), 'CCCCCCCC', 1, '', 5, NOW(3) - INTERVAL 29 DAY);
            INSERT INTO authorization_requests (digest, browser_digest, parameters, expires_at) VALUES
                (REPEAT('a', 32), REPEAT('a', 32), '{}', NOW(3) - INTERVAL 1 SECOND),
                (REPEAT('b', 32), REPEAT('b', 32), '{}', NOW(3) + INTERVAL 15 MINUTE);
            INSERT INTO provider_sign_ins (provider, state_digest, browser_digest, expires_at) VALUES
                ('apple', REPEAT('a', 32), REPEAT('a', 32), NOW(3) - INTERVAL 1 SECOND),
                ('apple', REPEAT('b', 32), REPEAT('b', 32), NOW(3) + INTERVAL 10 MINUTE);
            INSERT INTO signing_keys (kid, public_jwk, sealed_private_key, published_at, activated_at, retired_at) VALUES
                (REPEAT('a', 16), '{}', NULL, '2020-01-01', '2020-01-01', NOW(3) - INTERVAL 91 DAY),
                (REPEAT('b', 16), '{}', NULL, '2020-01-01', '2020-01-01', NOW(3) - INTERVAL 89 DAY);
            """)
        let outcome = try installation.tool("gc", "--json", setting: ["MERGANSER_LOGIN_HISTORY_DAYS": "7"])
        #expect(outcome.exit == .status(0))
        #expect(
            outcome.output
                == #"{"deleted":{"idempotency_records":1200,"swap_tickets":1,"merge_tokens":1,"merge_token_copies":1,"#
                + #""authorization_codes":1,"web_sessions":1,"login_events":1,"paks":1,"rate_limits":1,"#
                + #""refresh_tokens":2,"refresh_families":1,"#
                + #""refresh_answers":1,"revoked_access_tokens":1,"device_codes":1,"authorization_requests":1,"#
                + #""provider_sign_ins":1,"webhook_outbox":0,"signing_keys":1}}"# + "\n")
        #expect(outcome.errorOutput.isEmpty)
        let left = try installation.database.connect().query(
            """
            SELECT (SELECT COUNT(*) FROM idempotency_records), (SELECT COUNT(*) FROM swap_tickets),
                (SELECT COUNT(*) FROM merge_tokens), (SELECT COUNT(sealed_token) FROM merge_tokens),
                (SELECT COUNT(*) FROM authorization_codes), (SELECT COUNT(*) FROM web_sessions),
                (SELECT COUNT(*) FROM login_events), (SELECT COUNT(*) FROM paks), (SELECT COUNT(*) FROM rate_limits),
                (SELECT COUNT(*) FROM refresh_tokens), (SELECT COUNT(*) FROM refresh_families),
                (SELECT COUNT(sealed_answer) FROM refresh_families), (SELECT COUNT(*) FROM revoked_access_tokens),
                (SELECT COUNT(*) FROM device_codes), (SELECT COUNT(*) FROM authorization_requests),
                (SELECT COUNT(*) FROM provider_sign_ins), (SELECT COUNT(public_jwk) FROM signing_keys)
            """)
        #expect(
            left[0].map { $0.map { String(decoding: $0, as: UTF8.self) } }
                == ["1", "1", "2", "1", "1", "1", "1", "2", "1", "1", "2", "1", "1", "1", "1", "1", "1"])

        let again = try installation.tool("gc")
        #expect(again.exit == .status(0))
        #expect(again.output.hasPrefix("idempotency_records    0\n"))
    }
}
