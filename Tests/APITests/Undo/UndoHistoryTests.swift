import HTTP
import JSON
import TestSupport
import Testing
import Time

@testable import Accounts

/// Whose the history of an agent's request is after an undo: it is one, and goes where the request goes (accounts Stage 6).
@Suite struct UndoHistoryTests {
    let scene: OAuthScene
    let app: TestApp
    let client: Client
    let ada: Phone
    let bea: Phone
    let agent: TestAgent

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        client = scene.client
        ada = try scene.person("ada", email: "ada@example.com")
        bea = try scene.person("bea", email: "bea@example.com")
        agent = try client.agent(of: ada, in: app)
    }

    private func merge() throws -> MergeID {
        let token = client.send(.post, "/api/v1/me/merge/session-token", token: ada.token)["session_token"]
        app.time.advance(by: .seconds(1))
        return try client.send(.post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: bea.token)
            .merge()
    }

    /// Whose each row is, in order.
    private func history(of approval: String) throws -> [String] {
        try app.column(
            "SELECT CONCAT(event, ' ', COALESCE(user_id, '-')) FROM agent_approval_history WHERE approval = ? ORDER BY sequence",
            approval)
    }

    /// As `gc` does it.
    private func collect(_ kinds: Garbage...) throws {
        for kind in kinds { _ = try app.operate { try $0.collect(kind, loginHistory: .seconds(180 * 86_400)) } }
    }

    @Test func whatTimeOrAWrongNumberAddedGoesBackToo() throws {
        let asked = try client.ask(agent)
        let merge = try merge()
        _ = client.decide(asked, "approved", as: bea, number: asked.wrongNumber)
        #expect(try history(of: asked.id) == ["requested \(bea.userID)", "number_mismatch \(bea.userID)"])
        app.time.advance(by: .seconds(3600))
        try collect(.agentApprovals)
        #expect(try app.undo(merge).kept == [])
        let owner = "\(ada.userID)"
        #expect(try history(of: asked.id) == ["requested \(owner)", "number_mismatch \(owner)", "expired \(owner)"])
    }

    @Test func ofWhatWasDecidedItStays() throws {
        let asked = try client.ask(agent)
        let merge = try merge()
        _ = client.decide(asked, "rejected", as: bea)
        let undone = try app.undo(merge, keepingChanged: true)
        #expect(undone.kept.map(\.table) == ["agent_approvals"])
        #expect(try history(of: asked.id) == ["requested \(bea.userID)", "rejected \(bea.userID)"])
    }

    /// Clean-up erases requests sooner than an undo may come only if it may come late.
    @Test(arguments: [false, true]) func afterCleanUp(isDecided: Bool) throws {
        let asked = try client.ask(agent)
        let merge = try merge()
        if isDecided { _ = client.decide(asked, "rejected", as: bea) }
        app.time.advance(by: .seconds(3600))
        try collect(.agentApprovals)
        try app.change("DELETE FROM agent_approvals")
        #expect(try app.undo(merge).kept == [])
        let owner = isDecided ? bea.userID : ada.userID
        let end = isDecided ? "rejected" : "expired"
        #expect(try history(of: asked.id) == ["requested \(owner)", "\(end) \(owner)"])
    }

    /// An agent that was revoked a month ago is erased, and says nothing then.
    @Test func ofAnErasedAgent() throws {
        let asked = try client.ask(agent)
        #expect(client.send(.delete, "/api/v1/me/agents/\(agent.id)", token: ada.token).status == 204)
        app.time.advance(by: .seconds(25 * 86_400))
        let (ada, bea) = (try reopened(self.ada), try reopened(self.bea))
        let token = client.send(.post, "/api/v1/me/merge/session-token", token: ada.token)["session_token"]
        let merge = try client.send(
            .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: bea.token
        ).merge()
        app.time.advance(by: .seconds(6 * 86_400))
        try collect(.endedAgentApprovals, .revokedAgents)
        #expect(try app.count("SELECT COUNT(*) FROM agents") == 0)
        #expect(try app.undo(merge).kept == [])
        #expect(try history(of: asked.id) == ["requested \(ada.userID)", "cancelled \(ada.userID)"])
    }

    private func reopened(_ phone: Phone) throws -> Phone {
        var phone = phone
        phone.token = try client.reopen(phone)
        return phone
    }

    /// What the agent has asked the survivor stays there, but is not the survivor's to decide any more.
    @Test func whatItsAgentAskedSinceIsCancelled() throws {
        let asked = try client.ask(agent)
        let merge = try merge()
        let own = try client.ask(try client.agent(of: bea, in: app), ["action_type": "own"])
        let (since, decided) = (
            try client.ask(agent, ["action_type": "a"]), try client.ask(agent, ["action_type": "b"])
        )
        _ = client.decide(decided, "rejected", as: bea)
        #expect(try app.undo(merge).kept == [])
        let (ada, bea) = (self.ada.userID, self.bea.userID)
        #expect(try history(of: asked.id) == ["requested \(ada)"])
        #expect(try history(of: since.id) == ["requested \(bea)", "cancelled \(bea)"])
        #expect(try history(of: decided.id) == ["requested \(bea)", "rejected \(bea)"])
        #expect(try history(of: own.id) == ["requested \(bea)"])
        #expect(client.send(try agent.poll(since.id))["status"] == "cancelled")
        #expect(client.decide(since, "approved", as: self.bea, number: since.number).status == 409)
    }

    /// A swap cancels requests before it deletes them.
    @Test(arguments: [false, true]) func ofWhatASwapCancelled(areSelected: Bool) throws {
        let anonymous = try scene.anonymous()
        let theirs = try client.agent(of: anonymous, in: app)
        let others = try client.agent(of: bea, in: app)
        // Both show the same.
        for agent in [theirs, others] { _ = try client.ask(agent) }
        let asked = try client.ask(theirs, ["action_type": "another"])
        let duplicate = try #require(
            try app.column(
                "SELECT public_id FROM agent_approvals WHERE user_id = ? AND public_id <> ?", anonymous.userID, asked.id
            ).first)
        app.time.advance(by: .seconds(1))
        let answer = client.send(
            .post, "/api/v1/me/anonymous_swap",
            app.proof("bea").adding([
                "provider": "apple", "merge_options": ["agent_approvals": .bool(areSelected)],
            ]), token: anonymous.token)
        try #require(answer.status == 200, "\(answer)")
        try app.undo(app.newestSwap())
        let owner = "\(anonymous.userID)"
        #expect(try history(of: duplicate) == ["requested \(owner)", "cancelled \(owner)"])
        #expect(
            try history(of: asked.id) == ["requested \(owner)"] + (areSelected ? [] : ["cancelled \(owner)"]))
        // It goes on from there.
        app.time.advance(by: .seconds(3600))
        try collect(.agentApprovals)
        #expect(try history(of: duplicate).last == "expired \(owner)")
        #expect(try history(of: asked.id).last == "expired \(owner)")
        let broken = try app.count(
            """
            SELECT COUNT(*) FROM agent_approval_history h
            LEFT JOIN agent_approval_history p ON p.approval = h.approval AND p.sequence = h.sequence - 1
            WHERE h.previous_digest <> COALESCE(p.digest, REPEAT(CHAR(0), 32))
            """)
        #expect(broken == 0)
    }

    /// The agent has repeated a request that a swap deleted, with the same key.
    @Test func aRepeatedRequest() throws {
        let anonymous = try scene.anonymous()
        let theirs = try client.agent(of: anonymous, in: app)
        _ = try client.ask(try client.agent(of: bea, in: app))
        let call = try theirs.asking(idempotencyKey: "the-same-key")
        #expect(client.send(call).status == 201)
        app.time.advance(by: .seconds(1))
        try scene.swap(anonymous, into: "bea")
        #expect(try app.count("SELECT COUNT(*) FROM agent_approvals") == 1)
        let repeated = client.send(try theirs.asking(idempotencyKey: "the-same-key"))
        #expect(repeated.status == 201, "\(repeated)")
        #expect(try app.undo(app.newestSwap()).kept == [])
        let owners = try app.column("SELECT CONCAT(user_id) FROM agent_approvals ORDER BY id")
        #expect(owners == ["\(bea.userID)", "\(anonymous.userID)", "\(bea.userID)"])
    }
}
