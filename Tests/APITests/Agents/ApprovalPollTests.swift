import HTTP
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// How an agent learns what became of its request, and proves it (accounts §4.1).
@Suite struct ApprovalPollTests {
    let scene: OAuthScene
    let app: TestApp
    let client: Client
    let phone: Phone
    let agent: TestAgent

    init() throws {
        scene = try OAuthScene()
        (app, client) = (scene.app, scene.client)
        phone = try scene.person()
        agent = try client.agent(of: phone, in: app)
    }

    private func poll(_ approval: PendingApproval) throws -> Answer {
        app.time.advance(by: AgentApproval.interval)
        return client.send(try agent.poll(approval.id))
    }

    // MARK: Polling

    @Test func nothingIsKnownUntilTheUserDecides() throws {
        let approval = try client.ask(agent)
        #expect(
            try poll(approval).text == #"""
                {"auth_req_id":"\#(approval.id)","status":"pending","action_type":"shell.exec",\#
                "display_payload_hash":"\#(approval.hash)","decided_at":null}
                """#)
    }

    @Test func fasterThanTheIntervalIsTooFast() throws {
        let approval = try client.ask(agent)
        #expect(client.send(try agent.poll(approval.id)).status == 200)
        app.time.advance(by: .milliseconds(500))
        for _ in 0..<2 {
            let refused = client.send(try agent.poll(approval.id))
            #expect("\(refused)" == refusal(429, "slow_down"))
            #expect(refused.header("Retry-After") == "2")
        }
        app.time.advance(by: .milliseconds(1499))
        #expect(client.send(try agent.poll(approval.id)).status == 429)
        // A refused poll does not make the wait longer.
        app.time.advance(by: .milliseconds(1))
        #expect(client.send(try agent.poll(approval.id)).status == 200)
    }

    @Test func eachRequestHasItsOwnPace() throws {
        let approvals = try ["a", "b"].map { try client.ask(agent, ["title": .string($0)]) }
        for approval in approvals { #expect(client.send(try agent.poll(approval.id)).status == 200) }
    }

    @Test func headChangesNothing() throws {
        let approval = try client.ask(agent)
        try app.expectUnchanged {
            let call = try agent.request(.head, "/api/agents/approvals/\(approval.id)")
            #expect(client.send(call).status == 200)
        }
    }

    @Test func onlyItsOwnRequestsAreThere() throws {
        let approval = try client.ask(agent)
        let neighbour = try client.agent(of: phone, in: app)
        for id in [approval.id, "aar_unknown", approval.id.lowercased(), "é"] {
            for call in [try neighbour.poll(id), try neighbour.cancel(id)] {
                #expect("\(client.send(call))" == refusal(404, "approval_not_found"))
            }
        }
        #expect(try poll(approval)["status"] == "pending")
    }

    @Test func itExpires() throws {
        let approval = try client.ask(agent)
        app.time.advance(by: .seconds(299))
        #expect(client.send(try agent.poll(approval.id))["status"] == "pending")
        app.time.advance(by: .seconds(2))
        let answer = client.send(try agent.poll(approval.id))
        #expect(answer["status"] == "expired" && answer["decided_at"] == .null && answer["decision_token"] == nil)
    }

    // MARK: Cancelling

    @Test func anAgentWithdrawsWhatItAsked() throws {
        let approval = try client.ask(agent)
        for _ in 0..<2 {
            let answer = client.send(try agent.cancel(approval.id))
            #expect(answer.status == 200)
            #expect(
                answer.json == [
                    "auth_req_id": .string(approval.id), "status": "cancelled", "action_type": "shell.exec",
                    "display_payload_hash": .string(approval.hash), "decided_at": .null,
                ])
        }
        #expect("\(client.decide(approval, "rejected", as: phone))" == refusal(409, "already_decided"))
        #expect(client.send(try agent.asking()).status == 201, "and may ask again at once")
    }

    @Test func whatHasEndedIsNotWithdrawn() throws {
        let decided = try client.ask(agent, ["title": "a"])
        #expect(client.decide(decided, "approved", as: phone, number: decided.number).status == 200)
        #expect("\(client.send(try agent.cancel(decided.id)))" == refusal(409, "already_decided"))
        let late = try client.ask(agent, ["title": "b"])
        app.time.advance(by: .seconds(300))
        #expect("\(client.send(try agent.cancel(late.id)))" == refusal(409, "approval_expired"))
    }

    // MARK: The decision token

    @Test(arguments: ["approved", "rejected"]) func aDecisionIsProven(decision: String) throws {
        let approval = try client.ask(agent)
        #expect(client.decide(approval, decision, as: phone, number: approval.number).status == 200)
        let decidedAt = app.time.now.seconds
        let answer = try poll(approval)
        #expect(answer["status"]?.string == decision && answer["decided_at"] == "2026-05-12T07:00:00Z")
        let text = try #require(answer["decision_token"]?.string)
        let token = try JWT(text)
        #expect(token.type == "approval+jwt" && token.algorithm == .rs256)
        let keys = try #require(
            KeySet(json: client.send(.get, "/.well-known/jwks.json").response.body))
        try token.verify(with: keys)
        #expect(
            try payload(of: text) == [
                "iss": .string(TestApp.issuer), "aud": .string(agent.id), "jti": .string(approval.id),
                "status": .string(decision), "display_payload_hash": .string(approval.hash),
                "iat": .integer(decidedAt), "exp": .integer(decidedAt + 900),
            ])
    }

    /// Its age is the decision's, so that an old approval does not serve twice.
    @Test func anOldDecisionIsNotProvenAnew() throws {
        let approval = try client.ask(agent)
        #expect(client.decide(approval, "approved", as: phone, number: approval.number).status == 200)
        let first = try poll(approval)["decision_token"]?.string
        app.time.advance(by: .seconds(897))
        let last = client.send(try agent.poll(approval.id))
        #expect(try JWT(#require(last["decision_token"]?.string)).claims == JWT(#require(first)).claims)
        app.time.advance(by: .seconds(2))
        let late = client.send(try agent.poll(approval.id))
        #expect(late["status"] == "approved" && late["decision_token"] == nil)
    }

    /// It is nobody's access token or id_token.
    @Test func aDecisionTokenOpensNothing() throws {
        let approval = try client.ask(agent)
        #expect(client.decide(approval, "approved", as: phone, number: approval.number).status == 200)
        let token = try #require(try poll(approval)["decision_token"]?.string)
        #expect(scene.userInfo(token).status == 401)
        #expect(client.send(.get, "/api/v1/me", token: token).status == 401)
    }

    @Test func withoutASigningKeyADecisionWaits() throws {
        let bare = try TestApp()
        let client = bare.client()
        let phone = try client.bootstrap()
        let agent = try client.agent(of: phone, in: bare)
        let approval = try client.ask(agent)
        #expect(client.send(try agent.poll(approval.id)).status == 200)
        #expect(client.decide(approval, "approved", as: phone, number: approval.number).status == 200)
        bare.time.advance(by: .seconds(2))
        #expect("\(client.send(try agent.poll(approval.id)))" == refusal(503, "temporarily_unavailable"))
        try bare.addSigningKey()
        bare.time.advance(by: .seconds(60))
        #expect(client.send(try agent.poll(approval.id))["decision_token"] != nil)
    }
}
