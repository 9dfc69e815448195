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
                == #"{"user":{"id":7,"anonymous":true,"previously_anonymous":false,"name":null,"nickname":null,"#
                + #""contact_email":null,"role":"user","created_at":"2026-05-12T07:00:00Z","#
                + #""last_active_at":"2026-05-27T09:14:22Z","deleted_at":null,"purge_at":null,"merged_into":null},"#
                + #""identities":[],"devices":[{"id":3,"device_uuid":"A0000000-0000-0000-0000-000000000000","#
                + #""platform":"ios","has_secret":true,"last_seen_at":"2026-05-27T09:14:22Z"},"#
                + #"{"id":4,"device_uuid":"b0000000-0000-0000-0000-000000000000","platform":"web","has_secret":false,"#
                + #""last_seen_at":"2026-05-27T09:14:22Z"}],"grants":[],"links":[],"absorbed_subs":[],"live_paks":1,"#
                + #""web_sessions":0,"pending_agent_approvals":0,"push_approvals":0}"# + "\n")
        let words = try installation.tool("user", "show", "7").output
        #expect(words.hasPrefix("user             7, anonymous, user\n"))
        #expect(words.contains("device           4 web b0000000-0000-0000-0000-000000000000, secret voided\n"))

        let deleted = try installation.tool("user", "show", "8", "--json").json()
        #expect(deleted["user"]?["deleted_at"] == "2026-05-27T09:14:22Z")
        #expect(deleted["user"]?["purge_at"] == "2026-06-26T09:14:22Z")
        #expect(deleted["identities"]?.array?.first?["email"] == .null)
        #expect(deleted["identities"]?.array?.first?["sub"] == "s")
    }

    @Test func listsMerges() throws {
        let installation = try Installation()
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id) VALUES (1), (2), (3), (4);
            INSERT INTO identity_links (id, primary_user_id, linked_user_id, merged_via, idempotency_key, created_at) VALUES
                (1, 1, 2, 'session_token', 'st:1', '2026-05-12 07:00:00'), (2, 1, 3, 't3_otp', 't3:1', '2026-05-13 07:00:00');
            INSERT INTO merge_journals (id, survivor_user_id, absorbed_user_id, merged_via, created_at, expires_at, undone_at)
            VALUES (7, 4, 5, 'anonymous_swap', '2026-05-12 06:00:00', '2099-01-01', NULL),
                (8, 4, 6, 'anonymous_swap', '2026-05-12 06:00:00', '2026-05-26 06:00:00', '2026-05-13 06:00:00');
            """)
        let second =
            #"{"id":2,"primary_user_id":1,"linked_user_id":3,"merged_via":"t3_otp","created_at":"2026-05-13T07:00:00Z","#
            + #""undo_until":null,"undone_at":null}"#
        let list = try installation.tool("merge", "list", "--limit", "1", "--json")
        #expect(list.output == #"{"merges":[\#(second)],"next":"2"}"# + "\n")
        #expect(
            try installation.tool("merge", "list", "--before", "2").output
                == """
                1  2026-05-12T07:00:00Z  user 2 into user 1  session_token  cannot be undone
                s8  2026-05-12T06:00:00Z  user 6 into user 4  anonymous_swap  undone 2026-05-13T06:00:00Z
                s7  2026-05-12T06:00:00Z  user 5 into user 4  anonymous_swap  can be undone until 2099-01-01T00:00:00Z

                """)
        #expect(
            try installation.tool("merge", "list", "--user", "3", "--json").output
                == #"{"merges":[\#(second)],"next":null}"# + "\n")
        #expect(
            try installation.tool("merge", "list", "--user", "9", "--json").output == #"{"merges":[],"next":null}"#
                + "\n")
        #expect(try installation.tool("merge", "show", "2", "--json").output == second + "\n")
        #expect(
            try installation.tool("merge", "show", "s7", "--json").output
                == #"{"id":"s7","primary_user_id":4,"linked_user_id":5,"merged_via":"anonymous_swap","#
                + #""created_at":"2026-05-12T06:00:00Z","undo_until":"2099-01-01T00:00:00Z","undone_at":null}"# + "\n")
        for arguments in [["show", "9"], ["show", "s9"], ["list", "--before", "s9"]] {
            let unknown = try installation.tool(["merge"] + arguments + ["--json"])
            #expect(unknown.exit == .status(1))
            #expect(try unknown.errorJSON()["error"] == "not_found", "\(arguments)")
        }
        #expect(try installation.tool("merge", "show", "x9").exit == .status(64))
        let links = try installation.tool("user", "show", "1", "--json").json()["links"]?.array
        #expect(links?.map { $0["linked_user_id"] } == [2, 3])
    }

    @Test func saysThatThereIsNone() throws {
        let outcome = try Installation().tool("user", "show", "7", "--json")
        #expect(outcome.exit == .status(1))
        let error = try outcome.errorJSON()
        #expect(error["error"] == "not_found")
        #expect(error["message"]?.string?.hasPrefix("there is no user 7") == true)
    }

    /// A person's whole record is not handed out without a trace.
    @Test func exportsAnAccountAndNotesIt() throws {
        let installation = try Installation()
        let db = try installation.database.connect()
        try db.executeScript("INSERT INTO users (id, name) VALUES (7, 'Ada')")
        let exported = try installation.tool("user", "export", "7", "--json").json()
        #expect(exported["account"]?["name"] == "Ada")
        #expect(exported["activity"]?.array?.map { $0["action"] } == ["user.exported"])
        let unknown = try installation.tool("user", "export", "8", "--json")
        #expect(unknown.exit == .status(1) && unknown.output.isEmpty)
        #expect(try unknown.errorJSON()["error"] == "not_found")
        let audited = try db.all("SELECT CONCAT_WS(' ', user_id, actor, action) FROM audit_log") { row in
            try row.read(String.self)
        }
        #expect(audited == ["7 operator user.exported"])
    }

    @Test func givesARole() throws {
        let installation = try Installation()
        let db = try installation.database.connect()
        try db.executeScript("INSERT INTO users (id) VALUES (7); INSERT INTO users (id, deleted_at) VALUES (8, NOW());")
        for role in ["developer", "developer", "user", "admin"] {
            let outcome = try installation.tool("user", "role", "7", role, "--json")
            #expect(outcome.output == #"{"id":7,"role":"\#(role)"}"# + "\n")
            #expect(try installation.tool("user", "show", "7", "--json").json()["user"]?["role"] == .string(role))
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
            let outcome = try installation.tool("user", "role", id, "admin", "--json")
            #expect(outcome.exit == .status(1))
            #expect(try outcome.errorJSON()["message"] == .string("there is no user \(id)"))
        }
        #expect(try installation.tool("user", "role", "7", "king").exit == .status(64))
    }

    // MARK: Merging

    /// Three accounts of one person: 1 and 2 identified, 3 anonymous.
    private func people() throws -> Installation {
        let installation = try Installation()
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id, anonymous, name, contact_email, login_email) VALUES
                (1, FALSE, 'Ada', 'typed@example.com', 'ada@example.com'), (2, FALSE, 'Ada', 'typed@example.com', NULL),
                (3, TRUE, NULL, NULL, NULL);
            INSERT INTO users (id, deleted_at) VALUES (4, NOW());
            INSERT INTO identities (user_id, provider, sub, email, email_verified) VALUES
                (1, 'apple', 'a', 'claimed@example.com', FALSE), (2, 'google', 'g', 'Ada@Example.com', TRUE),
                (2, 'apple', 'b', 'claimed@example.com', TRUE);
            INSERT INTO devices (id, user_id, device_uuid, platform) VALUES
                (7, 3, 'A0000000-0000-0000-0000-000000000000', 'ios');
            INSERT INTO paks (user_id, digest, scopes) VALUES (2, REPEAT('d', 32), 'profile:read');
            """)
        return installation
    }

    @Test func mergesByAnAddressThatBothHave() throws {
        let installation = try people()
        let arguments = ["user", "merge", "1", "2", "--email", "ADA@example.com", "--json"]
        let before = try installation.database.dump()
        let preview = try installation.tool(arguments + ["--dry-run"])
        #expect(preview.exit == .status(0), "\(preview.errorOutput)")
        let plan = try #require(try preview.json()["plan"]?.string)
        #expect(
            preview.output
                == #"{"dry_run":true,"plan":"\#(plan)","moves":{"identities":2,"grants":0,"devices":0,"agents":0,"#
                + #""agent_approvals":0,"notifications":0}}"# + "\n")
        let refused = try installation.tool(arguments + ["--plan", "other"])
        #expect(refused.exit == .status(1))
        #expect(try refused.errorJSON()["error"] == "refused")
        #expect(try installation.database.dump() == before)

        let merged = try installation.tool(arguments + ["--plan", plan])
        #expect(
            merged.output
                == #"{"identity_link_id":1,"primary_user_id":1,"linked_user_id":2,"merged_via":"t2_email_match","#
                + #""repeated":false}"# + "\n", "\(merged.errorOutput)")
        let after = try installation.database.dump()
        let again = try installation.tool(arguments)
        #expect(try again.json()["repeated"] == true)
        #expect(try installation.database.dump() == after)
        let db = try installation.database.connect()
        #expect(
            try db.all("SELECT idempotency_key FROM identity_links") { row in try row.read(String.self) }
                == ["t2:ada@example.com:2"])
        #expect(
            try db.all("SELECT CONCAT_WS(' ', user_id, actor, action) FROM audit_log ORDER BY id") { row in
                try row.read(String.self)
            } == ["2 operator pak.revoked", "1 operator user.merged"])
        #expect(try installation.tool("user", "show", "2", "--json").json()["user"]?["merged_into"] == 1)
    }

    @Test func mergesByADeviceOfOneOfThem() throws {
        let installation = try people()
        let merged = try installation.tool(
            "user", "merge", "2", "3", "--device", "a0000000-0000-0000-0000-000000000000")
        #expect(merged.output == "user 3 is merged into user 2 (t1_device_link, link 1)\n", "\(merged.errorOutput)")
        let again = try installation.tool(
            "user", "merge", "2", "3", "--device", "A0000000-0000-0000-0000-000000000000")
        #expect(again.output == "user 3 had already been merged into user 2 (t1_device_link, link 1)\n")
        #expect(
            try installation.database.connect().all("SELECT idempotency_key FROM identity_links") { row in
                try row.read(String.self)
            } == ["t1:a0000000-0000-0000-0000-000000000000:3"])
    }

    @Test func undoesAMerge() throws {
        let installation = try people()
        let device = ["--device", "A0000000-0000-0000-0000-000000000000"]
        #expect(try installation.tool(["user", "merge", "2", "3"] + device).exit == .status(0))
        let merged = try installation.database.dump()
        let preview = try installation.tool("merge", "undo", "1", "--dry-run")
        #expect(
            preview.output.hasPrefix("merge 1 would be undone; rows that would go back to user 3: "),
            "\(preview.errorOutput)")
        #expect(try installation.database.dump() == merged)

        let undone = try installation.tool("merge", "undo", "1", "--json")
        let body = try undone.json()
        #expect(body["id"] == 1 && body["dry_run"] == false)
        #expect(body["primary_user_id"] == 2 && body["linked_user_id"] == 3)
        #expect(body["kept"] == [] && body["unlinked_subs"] == [] && body["restored"] != 0)
        #expect(try installation.tool("user", "show", "3", "--json").json()["user"]?["merged_into"] == .null)
        #expect(try installation.tool("merge", "show", "1").output.contains("  undone 20"))

        let again = try installation.tool("merge", "undo", "1", "--json")
        #expect(again.exit == .status(1))
        #expect(try again.errorJSON()["error"] == "undo_not_possible")
        #expect(try again.errorJSON()["reason"] == "already_undone")
        #expect(
            try installation.tool("merge", "undo", "1").errorOutput
                == "merganserctl: merge 1 was not undone: it was undone before\n")
        let unknown = try installation.tool("merge", "undo", "s9", "--json")
        #expect(unknown.exit == .status(1))
        #expect(try unknown.errorJSON()["error"] == "not_found")
    }

    @Test func saysWhatStandsInTheWayOfAnUndo() throws {
        let installation = try people()
        let device = ["--device", "A0000000-0000-0000-0000-000000000000"]
        #expect(try installation.tool(["user", "merge", "2", "3"] + device).exit == .status(0))
        try installation.database.connect().executeScript("DELETE FROM devices WHERE id = 7")
        let merged = try installation.database.dump()
        let refused = try installation.tool("merge", "undo", "1", "--json")
        #expect(refused.exit == .status(1))
        #expect(try refused.errorJSON()["error"] == "undo_conflict")
        #expect(
            try refused.errorJSON()["conflicts"] == [["table": "devices", "key": "7", "reason": "missing"]])
        #expect(try installation.tool("merge", "undo", "1").errorOutput.hasSuffix("\n  devices 7 is gone\n"))
        #expect(try installation.database.dump() == merged)

        let undone = try installation.tool("merge", "undo", "1", "--keep-changed")
        #expect(undone.output.contains("stays with user 2: devices 7 is gone"), "\(undone.errorOutput)")
    }

    @Test func refusesWhatIsNoMerge() throws {
        let installation = try people()
        let device = ["--device", "A0000000-0000-0000-0000-000000000000"]
        let before = try installation.database.dump()
        for (arguments, message) in [
            (["1", "1", "--email", "ada@example.com"], "an account cannot be merged into itself"),
            (["1", "9"] + device, "there is no user 9"), (["9", "1"] + device, "there is no user 9"),
            (["1", "4"] + device, "user 4 is deleted"), (["4", "1"] + device, "user 4 is deleted"),
            (
                ["3", "1"] + device,
                "user 3 is anonymous and cannot absorb others; merge the other way round"
            ),
            (["1", "2"] + device, "the device A0000000-0000-0000-0000-000000000000 belongs to neither account"),
            (["2", "3", "--email", "ada@example.com"], "no provider verified the address ada@example.com for user 3"),
            // Typed by both, and claimed by a provider that did not verify it.
            (
                ["1", "2", "--email", "typed@example.com"],
                "no provider verified the address typed@example.com for user 2"
            ),
            (
                ["1", "2", "--email", "claimed@example.com"],
                "no provider verified the address claimed@example.com for user 1"
            ),
        ] {
            for flags in [[], ["--dry-run"]] {
                let outcome = try installation.tool(["user", "merge"] + arguments + flags + ["--json"])
                #expect(outcome.exit == .status(1), "\(arguments)")
                #expect(try outcome.errorJSON()["message"] == .string(message), "\(arguments)")
            }
        }
        for arguments in [[], device + ["--email", "ada@example.com"], ["--device", "x"]] {
            #expect(try installation.tool(["user", "merge", "1", "2"] + arguments).exit == .status(64))
        }
        #expect(try installation.database.dump() == before)

        // Who is absorbed can neither absorb nor be absorbed again.
        #expect(try installation.tool(["user", "merge", "2", "3"] + device).exit == .status(0))
        for pair in [["1", "3"], ["3", "1"]] {
            let outcome = try installation.tool(["user", "merge"] + pair + device + ["--json"])
            #expect(
                try outcome.errorJSON()["message"]
                    == "user 3 was merged already; `user show` says into whom", "\(pair)")
        }
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
            INSERT INTO merge_otps (requester_id, target_key, code_mac, expires_at) VALUES
                (1, REPEAT('t', 32), REPEAT('m', 32), NOW(3) - INTERVAL 1 SECOND),
                (1, REPEAT('t', 32), REPEAT('m', 32), NOW(3) + INTERVAL 5 MINUTE);
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
            INSERT INTO refresh_families (id, grant_id, sealed_answer, answered_scope, answer_expires_at,
                                          answer_key_digest, answer_key_expires_at, current_expires_at) VALUES
                (4, 1, 'answer', 'openid', NOW(3) - INTERVAL 1 HOUR,
                 REPEAT('a', 32), NOW(3) + INTERVAL 23 HOUR, NOW(3) + INTERVAL 30 DAY),
                (5, 1, 'answer', 'openid', NULL,
                 REPEAT('b', 32), NOW(3) - INTERVAL 1 SECOND, NOW(3) + INTERVAL 29 DAY);
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
            INSERT INTO push_approval_requests (requested_user_id, expires_at) VALUES
                (1, NOW(3) - INTERVAL 61 MINUTE), (1, NOW(3) - INTERVAL 59 MINUTE);
            INSERT INTO merge_journals (survivor_user_id, absorbed_user_id, merged_via, created_at, expires_at) VALUES
                (1, 41, 'anonymous_swap', NOW(3) - INTERVAL 1 DAY, NOW(3) - INTERVAL 1 SECOND),
                (1, 42, 'anonymous_swap', NOW(3) - INTERVAL 49 HOUR, NOW(3) + INTERVAL 1 DAY),
                (1, 43, 'anonymous_swap', NOW(3) - INTERVAL 47 HOUR, NOW(3) + INTERVAL 1 DAY);
            INSERT INTO merge_journals (survivor_user_id, absorbed_user_id, merged_via, created_at, expires_at)
                SELECT 1, 43 + seq, 'anonymous_swap', NOW(3) - INTERVAL 15 DAY, NOW(3) - INTERVAL 1 DAY FROM seq_1_to_43;
            INSERT INTO signing_keys (kid, public_jwk, sealed_private_key, published_at, activated_at, retired_at) VALUES
                (REPEAT('a', 16), '{}', NULL, '2020-01-01', '2020-01-01', NOW(3) - INTERVAL 91 DAY),
                (REPEAT('b', 16), '{}', NULL, '2020-01-01', '2020-01-01', NOW(3) - INTERVAL 89 DAY);
            """)
        let outcome = try installation.tool(
            "gc", "--json", setting: ["MERGANSER_LOGIN_HISTORY_DAYS": "7", "MERGANSER_UNDO_DAYS": "2"])
        #expect(outcome.exit == .status(0))
        #expect(
            outcome.output
                == #"{"deleted":{"idempotency_records":1200,"swap_tickets":1,"merge_tokens":1,"merge_token_copies":1,"#
                + #""merge_otps":1,"authorization_codes":1,"web_sessions":1,"login_events":1,"paks":1,"rate_limits":1,"#
                + #""refresh_tokens":2,"refresh_families":1,"#
                + #""refresh_answers":2,"keyed_refresh_answers":1,"revoked_access_tokens":1,"device_codes":1,"#
                + #""authorization_requests":1,"provider_sign_ins":1,"push_approval_requests":1,"webhook_outbox":0,"#
                + #""logout_tokens":0,"webhook_attempts":0,"agent_nonces":0,"agent_approvals":0,"#
                + #""ended_agent_approvals":0,"revoked_agents":0,"agent_approval_history":0,"merge_journals":45,"#
                + #""apple_notifications":0,"signing_keys":1},"counted_days":30}"# + "\n")
        #expect(outcome.errorOutput.isEmpty)
        let left = try installation.database.connect().query(
            """
            SELECT (SELECT COUNT(*) FROM idempotency_records), (SELECT COUNT(*) FROM swap_tickets),
                (SELECT COUNT(*) FROM merge_tokens), (SELECT COUNT(sealed_token) FROM merge_tokens),
                (SELECT COUNT(*) FROM merge_otps),
                (SELECT COUNT(*) FROM authorization_codes), (SELECT COUNT(*) FROM web_sessions),
                (SELECT COUNT(*) FROM login_events), (SELECT COUNT(*) FROM paks), (SELECT COUNT(*) FROM rate_limits),
                (SELECT COUNT(*) FROM refresh_tokens), (SELECT COUNT(*) FROM refresh_families),
                (SELECT COUNT(sealed_answer) FROM refresh_families), (SELECT COUNT(*) FROM revoked_access_tokens),
                (SELECT COUNT(*) FROM device_codes), (SELECT COUNT(*) FROM authorization_requests),
                (SELECT COUNT(*) FROM provider_sign_ins), (SELECT COUNT(*) FROM push_approval_requests),
                (SELECT GROUP_CONCAT(absorbed_user_id) FROM merge_journals), (SELECT COUNT(public_jwk) FROM signing_keys)
            """)
        #expect(
            left[0].map { $0.map { String(decoding: $0, as: UTF8.self) } }
                == "1 1 2 1 1 1 1 1 2 1 1 4 2 1 1 1 1 1 43 1".split(separator: " ").map(String.init))

        let again = try installation.tool("gc")
        #expect(again.exit == .status(0))
        #expect(again.output.hasPrefix("idempotency_records    0\n"))
    }
}
