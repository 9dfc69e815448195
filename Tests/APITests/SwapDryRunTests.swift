import Database
import HTTP
import JSON
import MariaDB
import Synchronization
import TestSupport
import Testing
import Threads

/// The answer of a dry run, and the plan to which `If-Match` binds the swap (accounts §1.9).
@Suite struct SwapDryRunTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    private func plan(_ a: Phone, _ b: IdentifiedUser, _ members: [(String, JSONValue)] = []) throws -> String {
        let answer = try scene.preview(a, into: b, members)
        return try #require(answer["plan"]?.string, "\(answer)")
    }

    @Test(arguments: SwapScene.Proof.allCases) func itShowsWhatTheSwapWouldDo(by proof: SwapScene.Proof) throws {
        let a = try scene.anonymous()
        let b = try scene.identified(name: "Bea", email: "user@example.com")
        try scene.exampleAssets(of: a, beside: b)
        let clients = try scene.db.all("SELECT client_id FROM applications ORDER BY id") { row in
            try row.read(String.self)
        }
        let request = try scene.swapRequest(
            a, into: b, by: proof, [("dry_run", true), ("merge_options", ["rps": Array(clients[1...]).asJSON])],
            key: "key")
        var previews: [Answer] = []
        try app.expectUnchanged {
            previews = (0..<2).map { _ in scene.client.send(request) }
        }

        let plan = try #require(previews[0]["plan"]?.string)
        #expect(plan.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
        #expect(
            previews[0].text == """
                {"dry_run":true,"plan":"\(plan)",\
                "user":{"id":\(b.id),"contact_email":"user@example.com","name":"Bea","anonymous":false},\
                "merged":{"rps":{"transferred":1,"skipped_duplicate":1},\
                "agent_approvals":{"transferred":5,"skipped_duplicate":0},"notifications":{"transferred":3}},\
                "rps":[{"client_id":"\(clients[0])","name":"상점","fate":"dropped"},\
                {"client_id":"\(clients[1])","name":"Library","fate":"skipped_duplicate"},\
                {"client_id":"\(clients[2])","name":"Café","fate":"transferred"}]}
                """)
        #expect(previews[0].status == 200)
        #expect(previews[0].header("ETag") == "\"\(plan)\"")
        #expect(previews[0].header("Cache-Control") == "no-store")
        #expect(previews[1].text == previews[0].text)
        #expect(previews[1].header("Idempotency-Replayed") == nil)

        // The key is still free, and the plan is what the swap does.
        let swap = RepeatableRequest(
            method: .post, path: request.path, body: request.body?.adding(["dry_run": false]), token: a.token,
            headers: [("idempotency-key", "key"), ("if-match", "\"\(plan)\"")])
        let answer = scene.client.send(swap)
        #expect(answer.status == 200)
        #expect(answer["merged"] == previews[0]["merged"])
    }

    @Test func itTakesNoLockAndWaitsForNone() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let holder = try app.database.connect()
        try holder.executeScript(
            "START TRANSACTION; SELECT * FROM users FOR UPDATE; SELECT * FROM paks FOR UPDATE; SELECT * FROM identities FOR UPDATE"
        )
        #expect(try scene.preview(a, into: b).status == 200)
        #expect(app.statistics.lockTimeouts.value == 0)
        try holder.executeScript("ROLLBACK")
    }

    // The plan.

    @Test func theSelectionIsASet() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let (first, second) = (try scene.relyingParty().clientID, try scene.relyingParty().clientID)
        func plan(_ options: JSONValue?) throws -> String {
            try self.plan(a, b, options.map { [("merge_options", $0)] } ?? [])
        }
        let both = try plan(["rps": [.string(first), .string(second)]])
        #expect(try plan(["rps": [.string(second), .string(first)]]) == both)
        #expect(try plan(["rps": [.string(second), .string(first), .string(second)]]) == both)
        let all = try plan(nil)
        #expect(try plan([:]) == all)
        #expect(try plan(.null) == all)
        #expect(try plan(["rps": .null, "agent_approvals": true, "notifications": .null]) == all)
        let different = try [
            nil, ["rps": []], ["rps": [.string(first)]], ["rps": [.string(second)]],
            ["rps": [.string(first), .string(second)]], ["rps": [.string(first + second)]], ["agent_approvals": false],
            ["notifications": false], ["agent_approvals": false, "notifications": false],
        ].map(plan)
        #expect(Set(different).count == different.count)
    }

    @Test func theSurvivorIsPartOfIt() throws {
        let (a, b, c) = (try scene.anonymous(), try scene.identified(), try scene.identified())
        #expect(try plan(a, b) != plan(a, c))
    }

    @Test func newTokensDoNotAlterIt() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        try scene.exampleAssets(of: a, beside: b)
        let before = try plan(a, b)
        var renewed = a
        renewed.token = try #require(
            scene.client.send(
                .post, "/api/v1/devices",
                ["device_uuid": .string(a.uuid), "platform": "ios", "device_secret": .string(a.secret)])[
                    "access_token"]?.string)
        _ = try scene.client.signIn(app.proof(b.subject), on: scene.next())
        try scene.db.execute("UPDATE grants SET last_used_at = ?", app.time.now)
        try scene.db.execute("INSERT INTO refresh_families (grant_id) SELECT id FROM grants")
        app.time.advance(by: .seconds(3600))
        #expect(try plan(renewed, b) == before)
        #expect(try plan(a, b) == before)
        #expect(try scene.preview(a, into: b, by: .ticket)["plan"]?.string == before)
    }

    @Test func everyAffectedRowAltersIt() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let rp = try scene.relyingParty()
        let (agent, ownAgent) = (try scene.agent(a.userID), try scene.agent(b.id))
        let db = scene.db
        let changes: [(name: String, () throws -> Void)] = [
            ("A grants", { try scene.grant(a.userID, rp) }),
            ("B grants the same", { try scene.grant(b.id, rp) }),
            ("B revokes", { try db.execute("UPDATE grants SET revoked_at = created_at WHERE user_id = ?", b.id) }),
            ("A revokes", { try db.execute("UPDATE grants SET revoked_at = created_at WHERE user_id = ?", a.userID) }),
            ("another agent", { _ = try scene.agent(a.userID) }),
            ("an approval", { try scene.approval(a.userID, of: agent, payload: "same") }),
            ("the same asked of B", { try scene.approval(b.id, of: ownAgent, payload: "same") }),
            ("B decides", { try db.execute("UPDATE agent_approvals SET status = 'approved' WHERE user_id = ?", b.id) }),
            ("B is asked again", { try scene.approval(b.id, of: ownAgent, payload: "same") }),
            (
                "A decides",
                { try db.execute("UPDATE agent_approvals SET status = 'rejected' WHERE user_id = ?", a.userID) }
            ),
            ("a notification", { try scene.notification(requested: a.userID) }),
            ("A approved B's", { try scene.notification(requested: b.id, approved: a.userID) }),
            (
                "one is erased",
                { try db.execute("DELETE FROM push_approval_requests WHERE requested_user_id = ?", a.userID) }
            ),
            ("another phone", { try scene.phone(of: a.userID) }),
        ]
        for (name, change) in changes {
            let before = try plan(a, b)
            try change()
            let after = try plan(a, b)
            #expect(after != before, "\(name)")
            #expect(try plan(a, b) == after, "\(name)")
            try app.expectUnchanged {
                for isDryRun in [true, false] {
                    let refused = try scene.swap(a, into: b, [("dry_run", .bool(isDryRun))], ifMatch: "\"\(before)\"")
                    #expect(refused.description == #"412 {"error":"plan_changed"}"#, "\(name)")
                }
            }
        }
        #expect(try scene.swap(a, into: b, ifMatch: "\"\(plan(a, b))\"").status == 200)
    }

    @Test func otherOptionsAreAnotherPlan() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let rp = try scene.relyingParty()
        try scene.grant(a.userID, rp)
        let all = try plan(a, b)
        try app.expectUnchanged {
            for options in [["rps": [.string(rp.clientID)]], ["agent_approvals": false]] as [JSONValue] {
                let refused = try scene.swap(a, into: b, [("merge_options", options)], ifMatch: "\"\(all)\"")
                #expect(refused.status == 412)
            }
        }
    }

    @Test func ifMatchAsItMayBeWritten() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let plan = try plan(a, b)
        for header in [
            "\"\(plan)\"", plan, "*", "\"other\", \"\(plan)\"", "other,\(plan)", " \"\(plan)\" ",
            "\"\(plan)\",\"other\"",
        ] {
            #expect(try scene.preview(a, into: b, ifMatch: header).status == 200, "\(header)")
        }
        try app.expectUnchanged {
            for header in ["", "\"\"", "\"other\"", "W/\"\(plan)\"", "\"*\"", String(plan.dropLast()), "\(plan)="] {
                let refused = try scene.swap(a, into: b, ifMatch: header)
                #expect(refused.description == #"412 {"error":"plan_changed"}"#, "\(header)")
            }
        }
    }

    // One instant.

    /// A writer moves A between two states, each in one transaction. A preview shows one of them, never a mixture.
    @Test func aPreviewIsOfOneInstant() throws {
        let (a, b) = (try scene.anonymous(), try scene.identified())
        let grant = try scene.grant(a.userID, try scene.relyingParty())
        let agent = try scene.agent(a.userID)
        let done = Atomic(false)
        let thread = Thread { [app] in
            guard let db = try? app.database.connect() else { return }
            while !done.load(ordering: .relaxed) {
                // Approvals are read after grants, notifications last.
                try? db.executeScript(
                    """
                    START TRANSACTION;
                    UPDATE grants SET revoked_at = created_at WHERE id = \(grant);
                    INSERT INTO agent_approvals (user_id, agent_id, public_id, display_payload_hash)
                    VALUES (\(a.userID), \(agent), 'aar_passing', 'hash');
                    INSERT INTO push_approval_requests (requested_user_id, expires_at) VALUES (\(a.userID), NOW());
                    COMMIT;
                    START TRANSACTION;
                    UPDATE grants SET revoked_at = NULL WHERE id = \(grant);
                    DELETE FROM agent_approvals WHERE public_id = 'aar_passing';
                    DELETE FROM push_approval_requests;
                    COMMIT
                    """)
            }
        }
        defer {
            done.store(true, ordering: .relaxed)
            thread.join()
        }
        let request = try scene.swapRequest(a, into: b, by: .ticket, [("dry_run", true)])
        var seen: [String: Int] = [:]
        let deadline = ContinuousClock.now + .seconds(30)
        while seen.values.filter({ $0 >= 25 }).count < 2, ContinuousClock.now < deadline {
            let merged = scene.client.send(request)["merged"]
            let counts = [
                merged?["rps"]?["transferred"]?.integer, merged?["agent_approvals"]?["transferred"]?.integer,
                merged?["notifications"]?["transferred"]?.integer,
            ]
            seen["\(counts.map { $0 ?? -1 })", default: 0] += 1
        }
        #expect(Set(seen.keys) == ["[1, 0, 0]", "[0, 1, 1]"])
    }
}
