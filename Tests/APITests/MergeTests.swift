import Database
import HTTP
import JSON
import MariaDB
import Testing
import Time

/// The effect of a merge (accounts §3.2).
@Suite struct MergeTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    /// The newest.
    private func link() throws -> Int { try #require(try scene.value("SELECT MAX(id) FROM identity_links")) }

    /// More would not fit into one transaction of a cluster.
    @Test func aHistoryHasALongestLength() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        let kept = try app.count("SELECT COUNT(*) FROM login_events WHERE user_id = ?", absorbed.id)
        try app.change(
            """
            INSERT INTO login_events (user_id, event, user_agent) SELECT ?, 'signed_in', REPEAT('鴨', 500)
            FROM seq_1_to_25001 WHERE seq <= 25001 - ?
            """, absorbed.id, kept)
        let token = try scene.mergeToken(of: absorbed.id)
        let request = scene.mergeRequest(survivor, token)
        let dry = scene.client.send(scene.mergeRequest(survivor, token, [("dry_run", true)]))
        for answer in [dry, scene.client.send(request)] {
            #expect(answer.description == #"422 {"error":"account_too_large"}"#)
        }
        try app.change("DELETE FROM login_events WHERE user_id = ? ORDER BY id LIMIT 1", absorbed.id)
        #expect(scene.client.send(request).status == 200)
        #expect(try app.count("SELECT COUNT(*) FROM login_events WHERE user_id = ?", survivor.id) > 25_000)
    }

    @Test func everythingMovesAndTheOneIsKept() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        let shared = try scene.relyingParty()
        for member in [survivor, absorbed] { try scene.furnish(member.id, shared: shared) }
        let invariants = try MergeInvariants(scene)
        let token = try scene.mergeToken(of: absorbed.id)
        let answer = scene.client.send(scene.mergeRequest(survivor, token))
        #expect(
            answer.description == """
                200 {"ok":true,"identity_link_id":\(try link()),"primary_user_id":\(survivor.id),\
                "linked_user_id":\(absorbed.id),"merged_via":"session_token"}
                """)
        #expect(answer.header("Cache-Control") == "no-store")
        try invariants.check(links: 1)
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', primary_user_id, linked_user_id, merged_via, created_at) FROM identity_links WHERE id = ?",
                link()) == ["\(survivor.id) \(absorbed.id) session_token 2026-05-12 07:00:00.000"])
        #expect(
            try app.count(
                """
                SELECT COUNT(*) FROM identity_links
                WHERE id = ? AND idempotency_key = CONCAT('st:', (SELECT MAX(id) FROM merge_tokens))
                """, link()) == 1)
        // Nothing names the absorbed account but its own row, what leads from it, the journal, and what was revoked.
        let mentions = try scene.mentions(of: [absorbed.id]).filter { $0.value > 0 }
        #expect(
            mentions == [
                "users.id": 1, "identity_links.linked_user_id": 1, "paks.user_id": 2, "merge_tokens.user_id": 1,
                "swap_tickets.user_id": 1, "audit_log.user_id": 1, "merge_journals.absorbed_user_id": 1,
            ])
        #expect(try app.count("SELECT COUNT(*) FROM paks WHERE user_id = ? AND revoked_at IS NULL", absorbed.id) == 0)
        #expect(
            try app.count("SELECT COUNT(*) FROM swap_tickets WHERE user_id = ? AND used_at IS NULL", absorbed.id) == 0)
        // The survivor's own are left alone.
        #expect(try app.count("SELECT COUNT(*) FROM paks WHERE user_id = ? AND revoked_at IS NULL", survivor.id) == 2)
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions WHERE user_id = ?", survivor.id) == 1)
        #expect(
            try app.count("SELECT COUNT(*) FROM swap_tickets WHERE user_id = ? AND used_at IS NULL", survivor.id) == 1)
    }

    @Test func duplicatesOfGrantsAreKept() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        let rp = try scene.relyingParty()
        let grants = [
            try scene.grant(survivor.id, rp), try scene.grant(absorbed.id, rp),
            try scene.grant(absorbed.id, rp, sub: "older", revoked: true),
        ]
        #expect(try scene.merge(absorbed.id, into: survivor).status == 200)
        #expect(try scene.ids("SELECT id FROM grants WHERE user_id = ? ORDER BY id", survivor.id) == grants)
        #expect(
            try app.column("SELECT sub FROM grants ORDER BY id") == ["\(survivor.id)", "\(absorbed.id)", "older"])
    }

    @Test func anAnonymousTargetIsAbsorbedAsItIs() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.anonymous())
        #expect(try scene.merge(absorbed.userID, into: survivor).status == 200)
        #expect(try app.count("SELECT anonymous FROM users WHERE id = ?", absorbed.userID) == 1)
        #expect(scene.client.send(.get, "/api/v1/me", token: absorbed.token).status == 401)
        let again = try scene.client.reopen(absorbed)
        #expect(scene.client.send(.get, "/api/v1/me", token: again)["user"]?["id"]?.integer == survivor.id)
    }

    @Test func blanksAreFilledAndNothingIsReplaced() throws {
        let cases: [(before: (String?, String?), absorbed: (String?, String?), after: (String?, String?))] = [
            ((nil, nil), ("Ada", "ada@example.com"), ("Ada", "ada@example.com")),
            ((" ", ""), ("Ada", "ada@example.com"), ("Ada", "ada@example.com")),
            (("Bea", "bea@example.com"), ("Ada", "ada@example.com"), ("Bea", "bea@example.com")),
            ((nil, "bea@example.com"), ("Ada", "ada@example.com"), ("Ada", "bea@example.com")),
            ((nil, nil), (" ", "u@devices.internal"), (nil, nil)),
        ]
        for (before, other, after) in cases {
            let survivor = try scene.member(name: before.0, email: before.1)
            let absorbed = try scene.member(name: other.0, email: other.1)
            #expect(try scene.merge(absorbed.id, into: survivor).status == 200)
            let user = scene.client.send(.get, "/api/v1/me", token: survivor.token)["user"]
            #expect(user?["name"] == (after.0.map { .string($0) } ?? .null), "\(before) \(other)")
            #expect(user?["contact_email"] == (after.1.map { .string($0) } ?? .null), "\(before) \(other)")
            // The absorbed row says what it said.
            #expect(try scene.value("SELECT name FROM users WHERE id = ?", absorbed.id) == other.0)
        }
    }

    @Test func whoGetsApplicationsBecomesADeveloper() throws {
        for (role, absorbedRole, owns, after) in [
            ("user", "developer", true, "developer"), ("user", "admin", true, "developer"),
            ("user", "admin", false, "user"),
            ("admin", "developer", true, "admin"), ("developer", "admin", true, "developer"),
        ] {
            let (survivor, absorbed) = (try scene.member(), try scene.member())
            try app.change("UPDATE users SET role = ? WHERE id = ?", role, survivor.id)
            try app.change("UPDATE users SET role = ? WHERE id = ?", absorbedRole, absorbed.id)
            let rp = try scene.relyingParty()
            if owns { try app.change("UPDATE applications SET owner_user_id = ? WHERE id = ?", absorbed.id, rp.id) }
            #expect(try scene.merge(absorbed.id, into: survivor).status == 200)
            #expect(try scene.value("SELECT role FROM users WHERE id = ?", survivor.id) == after)
            if owns {
                let shown = scene.client.send(.get, "/api/v1/applications/\(rp.clientID)", token: survivor.token)
                #expect(shown.status == 200, "\(shown)")
            }
        }
    }

    @Test func chainsStayFlat() throws {
        let (a, b, c) = (try scene.member(), try scene.member(), try scene.member())
        let rp = try scene.relyingParty()
        try scene.grant(a.id, rp)
        #expect(try scene.merge(a.id, into: b).status == 200)
        #expect(try scene.merge(b.id, into: c).status == 200)
        #expect(
            try app.column("SELECT CONCAT_WS(' ', linked_user_id, primary_user_id) FROM identity_links ORDER BY id")
                == ["\(a.id) \(c.id)", "\(b.id) \(c.id)"])
        #expect(try scene.ids("SELECT user_id FROM grants") == [c.id])
    }

    @Test func theAuditLogTellsAllOfIt() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        try scene.furnish(absorbed.id, shared: try scene.relyingParty())
        #expect(try scene.merge(absorbed.id, into: survivor).status == 200)
        let (b, a) = (survivor.id, absorbed.id)
        let denied =
            #"\#(b) user:\#(b) push_approval.decided {"push_approval":null,"decision":"denied","reason":"merged"}"#
        #expect(
            try app.column("SELECT CONCAT_WS(' ', user_id, actor, action, details) FROM audit_log ORDER BY id") == [
                #"\#(b) user:\#(b) user.role_changed {"from":"user","to":"developer"}"#,
                #"\#(a) user:\#(b) pak.revoked {"count":2,"reason":"merged"}"#,
                denied, denied,
                #"\#(b) user:\#(b) application.updated {"count":1,"from_user_id":\#(a)}"#,
                #"\#(b) user:\#(b) device.reassigned {"count":1,"from_user_id":\#(a)}"#,
                #"\#(b) user:\#(b) user.merged {"from_user_id":\#(a),"identity_link_id":\#(try link()),"#
                    + #""merged_via":"session_token","identities":1,"grants":2,"agents":1,"agent_approvals":2,"#
                    + #""notifications":2,"login_events":1}"#,
            ])
    }

    // MARK: Events

    private func outbox() throws -> [String] {
        try app.column(
            """
            SELECT CONCAT_WS(' ', application_id, raw_payload) FROM webhook_outbox
            WHERE event_type = 'user.merged' ORDER BY id
            """)
    }

    @Test func everyRelyingPartyThatKnewTheOneIsTold() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        let several = try scene.relyingParty()
        let one = try scene.relyingParty(webhook: "https://rp.example/hook")
        let ended = try scene.relyingParty()
        let survivorsOnly = try scene.relyingParty()
        // In another order than the applications were registered in.
        try scene.grant(absorbed.id, one)
        try scene.grant(absorbed.id, several, sub: "8")
        try scene.grant(absorbed.id, several)
        try scene.grant(absorbed.id, several, sub: "9", revoked: true)
        try scene.grant(absorbed.id, ended, revoked: true)
        try scene.grant(survivor.id, several)
        try scene.grant(survivor.id, survivorsOnly)
        #expect(try scene.merge(absorbed.id, into: survivor).status == 200)
        let ids = try app.column("SELECT event_id FROM webhook_outbox ORDER BY id")
        try #require(ids.count == 2)
        func payload(_ id: String, _ subs: [String]) throws -> String {
            """
            {"data":{"identity_link_id":\(try link()),"linked_sub":"\(subs.last ?? "")",\
            "linked_subs":[\(subs.map { "\"\($0)\"" }.joined(separator: ","))],\
            "merged_canonical_sub":"\(absorbed.id)","merged_via":"session_token",\
            "survivor_canonical_sub":"\(survivor.id)"},\
            "event_id":"\(id)","event_type":"user.merged","occurred_at":"2026-05-12T07:00:00Z"}
            """
        }
        #expect(
            try outbox() == [
                "\(several.id) \(payload(ids[0], ["8", "\(absorbed.id)"]))",
                "\(one.id) \(payload(ids[1], ["\(absorbed.id)"]))",
            ])
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', application_id, event_id) FROM identity_link_events ORDER BY application_id")
                == ["\(several.id) \(ids[0])", "\(one.id) \(ids[1])"])
    }

    // MARK: Costs

    /// However much moves: no statement for each row.
    @Test func theStatementsAreAsManyForAThousandRowsAsForOne() throws {
        let rp = try scene.relyingParty()
        func statements(_ rows: Int) throws -> Int {
            let (survivor, absorbed) = (try scene.member(), try scene.member())
            let agent = try scene.agent(absorbed.id)
            try scene.db.execute(
                """
                INSERT INTO grants (user_id, application_id, sub)
                SELECT ?, ?, CONCAT(?, '-', seq) FROM seq_1_to_1000 WHERE seq <= ?
                """, absorbed.id, rp.id, absorbed.id, rows)
            try scene.db.execute(
                """
                INSERT INTO agent_approvals (user_id, agent_id, public_id, display_payload_hash)
                SELECT ?, ?, CONCAT(?, '-', seq), '' FROM seq_1_to_1000 WHERE seq <= ?
                """, absorbed.id, agent, absorbed.id, rows)
            let before = app.statistics.statements.value
            #expect(try scene.merge(absorbed.id, into: survivor).status == 200)
            return app.statistics.statements.value - before
        }
        // The application's counter comes to be.
        _ = try statements(1)
        #expect(try statements(1000) == statements(1))
    }
}
