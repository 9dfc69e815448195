import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// What a dry run of a merge shows, and what `If-Match` holds the merge to (accounts §3.1).
@Suite struct MergeDryRunTests {
    let app: TestApp
    let scene: SwapScene
    let survivor: Member
    let absorbed: Member
    let token: String

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
        survivor = try scene.member()
        absorbed = try scene.member()
        token = try scene.mergeToken(of: absorbed.id)
    }

    private func preview(
        _ requester: Member? = nil, _ token: String? = nil, key: String? = nil, ifMatch: String? = nil
    ) -> Answer {
        scene.client.send(
            scene.mergeRequest(
                requester ?? survivor, token ?? self.token, [("dry_run", true)], key: key, ifMatch: ifMatch))
    }

    private func plan() throws -> String { try #require(preview()["plan"]?.string) }

    @Test func itShowsWhatTheMergeWouldMove() throws {
        let shared = try scene.relyingParty()
        for member in [survivor, absorbed] { try scene.furnish(member.id, shared: shared) }
        var answers: [Answer] = []
        try app.expectUnchanged { answers = (0..<2).map { _ in preview(key: "key") } }
        let plan = try #require(answers[0]["plan"]?.string)
        #expect(plan.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
        #expect(
            answers[0].description == """
                200 {"dry_run":true,"plan":"\(plan)","moves":{"identities":1,"grants":2,"devices":1,"agents":1,\
                "agent_approvals":2,"notifications":2}}
                """)
        #expect(answers[0].header("ETag") == "\"\(plan)\"")
        #expect(answers[1].text == answers[0].text && answers[1].header("Idempotency-Replayed") == nil)
        // The key is still free, and the plan is what the merge does.
        #expect(
            scene.client.send(scene.mergeRequest(survivor, token, key: "key", ifMatch: "\"\(plan)\"")).status == 200)
    }

    @Test func itTakesNoLockAndWaitsForNone() throws {
        let holder = try app.database.connect()
        try holder.executeScript(
            "START TRANSACTION; SELECT * FROM users FOR UPDATE; SELECT * FROM paks FOR UPDATE; SELECT * FROM merge_tokens FOR UPDATE"
        )
        #expect(preview().status == 200)
        #expect(app.statistics.lockTimeouts.value == 0)
        try holder.executeScript("ROLLBACK")
    }

    @Test func everyAffectedRowAltersIt() throws {
        let rp = try scene.relyingParty()
        let agent = try scene.agent(absorbed.id)
        let (db, id) = (scene.db, absorbed.id)
        let changes: [(name: String, () throws -> Void)] = [
            ("an identity", { try scene.identity("google", .google, of: id) }),
            ("a grant", { try scene.grant(id, rp) }),
            ("it is revoked", { try db.execute("UPDATE grants SET revoked_at = created_at WHERE user_id = ?", id) }),
            ("an agent", { _ = try scene.agent(id) }),
            ("an approval", { try scene.approval(id, of: agent) }),
            ("a notification", { try scene.notification(requested: id) }),
            ("one of the survivor's", { try scene.notification(requested: survivor.id, approved: id) }),
            ("a phone", { try scene.phone(of: id) }),
            ("an application", { try db.execute("UPDATE applications SET owner_user_id = ? WHERE id = ?", id, rp.id) }),
            ("an absorbed account", { try app.absorb(try scene.identified().id, into: id) }),
            (
                "a swapped sub",
                {
                    try db.execute(
                        """
                        INSERT INTO absorbed_subs (application_id, sub, canonical_user_id, via, was_anonymous, occurred_at)
                        VALUES (?, '1', ?, 'anonymous_swap', TRUE, NOW())
                        """, rp.id, id)
                }
            ),
        ]
        for (name, change) in changes {
            let before = try plan()
            try change()
            #expect(try plan() != before, "\(name)")
            #expect(try plan() == plan(), "\(name)")
            try app.expectUnchanged {
                for members in [[], [("dry_run", true)]] as [[(String, JSONValue)]] {
                    let refused = scene.client.send(
                        scene.mergeRequest(survivor, token, members, ifMatch: "\"\(before)\""))
                    #expect(refused.description == #"412 {"error":"plan_changed"}"#, "\(name)")
                }
            }
        }
        let other = preview(try scene.member())["plan"]?.string
        #expect(try plan() != other, "the survivor is part of it")
        #expect(scene.client.send(scene.mergeRequest(survivor, token, ifMatch: "\"\(try plan())\"")).status == 200)
    }

    @Test func tokensAndSignInsDoNotAlterIt() throws {
        try scene.furnish(absorbed.id, shared: try scene.relyingParty())
        let before = try plan()
        _ = scene.client.send(.post, "/api/v1/auth/apple/session", app.proof(absorbed.subject))
        try scene.db.execute("UPDATE grants SET last_used_at = ?", app.time.now)
        try scene.db.execute("INSERT INTO refresh_families (grant_id) SELECT id FROM grants")
        try scene.db.execute("INSERT INTO login_events (user_id, event) VALUES (?, 'web_login')", absorbed.id)
        #expect(try plan() == before)
        #expect(preview(survivor, try scene.mergeToken(of: absorbed.id))["plan"]?.string == before)
    }

    @Test func ifMatchAsItMayBeWritten() throws {
        let plan = try plan()
        for header in ["\"\(plan)\"", plan, "*", "\"other\", \"\(plan)\"", " \(plan) "] {
            #expect(preview(ifMatch: header).status == 200, "\(header)")
        }
        for header in ["", "\"\"", "W/\"\(plan)\"", String(plan.dropLast())] {
            #expect(preview(ifMatch: header).description == #"412 {"error":"plan_changed"}"#, "\(header)")
        }
    }
}
