import Accounts
import HTTP
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text

/// Agents as their users manage them (accounts §4.1).
@Suite struct AgentTests {
    private static let agents = "/api/v1/me/agents"

    let app: TestApp
    let client: Client
    let phone: Phone

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.bootstrap()
    }

    private func create(_ changes: KeyValuePairs<String, JSONValue?> = [:], with client: Client? = nil) -> Answer {
        let usual: KeyValuePairs<String, JSONValue?> = ["name": "Agent", "type": "codex", "auth_mode": "bearer_only"]
        let kept = usual.filter { member in !changes.contains { $0.key == member.key } }
        let body = JSONObject((kept + Array(changes)).compactMap { name, value in value.map { (name, $0) } })
        return (client ?? self.client).send(.post, Self.agents, .object(body), token: phone.token)
    }

    // MARK: Creating

    @Test func theTokenIsInTheAnswerThatCreatesTheAgentAndNowhereElse() throws {
        let key = Base64.encode(try Ed25519PrivateKey().publicKey)
        let answer = create([
            "name": "Büro", "type": "claude", "auth_mode": "signed", "public_key": .string(key),
            "allowed_action_types": ["git.push"], "allowed_ips": ["192.0.2.0/24", "2001:db8::7"],
        ])
        #expect(answer.status == 201)
        let (id, token) = (try #require(answer["id"]?.string), try #require(answer["token"]?.string))
        #expect(id.wholeMatch(of: /agt_[a-z0-9]{16}/) != nil)
        #expect(token.wholeMatch(of: /logi_agt_[A-Za-z0-9_-]{43}/) != nil)
        let listed: JSONValue = [
            "id": .string(id), "name": "Büro", "type": "claude", "auth_mode": "signed", "public_key": .string(key),
            "allowed_action_types": ["git.push"], "allowed_ips": ["192.0.2.0/24", "2001:db8::7"],
            "created_at": "2026-05-12T07:00:00Z",
        ]
        #expect(answer.json == listed.adding(["token": .string(token)]))
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(client.send(.get, Self.agents, token: phone.token).json == ["agents": [listed]])
        #expect(try !app.database.dump().contains(token))
        for line in app.log.lines { #expect(!line.contains(token)) }
        #expect(
            try app.column("SELECT CONCAT(actor, ' ', action, ' ', details) FROM audit_log WHERE action LIKE 'agent%'")
                == [
                    #"user:\#(phone.userID) agent.created {"agent_id":"\#(id)","auth_mode":"signed"}"#
                ])
    }

    @Test func ofOneThatDoesNotSignAKeyIsIgnored() throws {
        let answer = create(["public_key": "x", "allowed_ips": []])
        #expect(answer.status == 201)
        #expect(answer["public_key"] == .null && answer["allowed_action_types"] == [] && answer["allowed_ips"] == [])
    }

    /// The identity of the curve, with and without its sign, verifies whatever anybody writes.
    private static let weakKey = Base64.encode([1] + [UInt8](repeating: 0, count: 30) + [0x80])
    /// No number below the field's order, which RFC 8032 §5.1.3 asks for.
    private static let keyWithoutPoint = Base64.encode([UInt8](repeating: 0xFF, count: 32))
    private static let key = Base64.encode([UInt8](repeating: 9, count: 32))

    @Test(
        arguments: [
            ["name": nil], ["name": ""], ["name": " \u{200B}"], ["name": "a\u{202E}b"], ["name": "a\nb"],
            ["name": .string(String(repeating: "a", count: 201))], ["type": nil], ["type": "other"], ["auth_mode": nil],
            ["auth_mode": "none"], ["auth_mode": "signed"], ["auth_mode": "signed", "public_key": ""],
            ["auth_mode": "signed", "public_key": .string(String(key.dropLast(4)))],
            ["auth_mode": "signed", "public_key": .string(weakKey)],
            ["auth_mode": "signed", "public_key": .string(keyWithoutPoint)], ["allowed_ips": ["192.0.2.256"]],
            ["allowed_ips": ["192.0.2.0/33"]], ["allowed_ips": ["127.0.0.1/08"]],
            ["allowed_ips": ["010.0.0.1"]], ["allowed_ips": ["1"]],
            ["allowed_ips": [""]],
            ["allowed_ips": "192.0.2.1"], ["allowed_action_types": [""]], ["allowed_action_types": [7]],
            ["allowed_action_types": .array(Array(repeating: "a", count: 101))],
        ] as [[String: JSONValue?]])
    func whatIsMissingOrMalformedIsRefused(changes: [String: JSONValue?]) throws {
        let usual: [String: JSONValue?] = ["name": "Agent", "type": "codex", "auth_mode": "bearer_only"]
        let members = usual.merging(changes) { _, new in new }.compactMap { name, value in value.map { (name, $0) } }
        try app.expectUnchanged {
            let answer = client.send(.post, Self.agents, .object(JSONObject(members)), token: phone.token)
            #expect("\(answer)" == refusal(400, "invalid_request"))
        }
    }

    @Test func whereAgentsHaveToSignNoOtherIsCreated() throws {
        let strict = try TestApp(
            settings: AccountsSettings(issuer: TestApp.issuer, allowsBearerOnlyAgents: false), database: app.database,
            time: app.time)
        try app.expectUnchanged {
            #expect("\(create(with: strict.client()))" == refusal(403, "bearer_only_disabled"))
        }
        #expect(try strict.client().agent(of: phone, in: strict, signed: true).key != nil)
    }

    @Test func sixtyInAnHour() throws {
        for _ in 0..<60 {
            let id = try #require(create()["id"]?.string)
            #expect(client.send(.delete, "\(Self.agents)/\(id)", token: phone.token).status == 204)
        }
        let refused = create()
        #expect("\(refused)" == refusal(429, "rate_limited"))
        #expect(refused.header("Retry-After") == "3600")
        app.time.advance(by: .seconds(3600))
        #expect(create().status == 201)
    }

    @Test func fiftyThatAreNotRevoked() throws {
        let ids = try (0..<50).map { _ in try #require(create()["id"]?.string) }
        try app.expectUnchanged { #expect("\(create())" == refusal(422, "too_many_agents")) }
        #expect(client.send(.get, Self.agents, token: phone.token).all("id", in: "agents") == ids.reversed())
        #expect(client.send(.delete, "\(Self.agents)/\(ids[0])", token: phone.token).status == 204)
        #expect(create().status == 201)
        // Each account has its own.
        #expect(try client.agent(of: client.bootstrap(2), in: app).token.isEmpty == false)
    }

    /// They are counted under the user's lock.
    @Test func noMoreThanFiftyAtOnce() throws {
        for _ in 0..<45 { #expect(create().status == 201) }
        let answers = app.atOnce(12) { [phone] client, _ in
            let body: JSONValue = ["name": "Agent", "type": "codex", "auth_mode": "bearer_only"]
            return client.send(.post, Self.agents, body, token: phone.token)
        }
        #expect(answers.count { $0.status == 201 } == 5 && answers.count { $0.error == "too_many_agents" } == 7)
    }

    /// However many there are, and were, the list and a creation read no more than they may return or count.
    @Test func whatSwapsBroughtIsReadToALimit() throws {
        for revoked in [false, true] {
            try app.change(
                """
                INSERT INTO agents (user_id, public_id, created_at, revoked_at)
                SELECT ?, CONCAT('agt_', ?, LPAD(seq, 15, '0')), ?, IF(?, ?, NULL) FROM seq_1_to_2000
                """, phone.userID, revoked, app.time.now, revoked, app.time.now)
        }
        let meter = try ReadMeter(app)
        let (list, listing) = try meter.measure { [phone] in $0.send(.get, Self.agents, token: phone.token) }
        let ids = list.all("id", in: "agents")
        #expect(ids.count == 200 && ids.first == "agt_0000000000002000")
        #expect(listing.rowsRead < 220 && !listing.plan.contains { $0.extra.contains("filesort") }, "\(listing)")
        let (refused, creation) = try meter.measure { [self] in create(with: $0) }
        #expect("\(refused)" == refusal(422, "too_many_agents"))
        #expect(creation.rowsRead < 120, "\(creation)")
    }

    // MARK: Listing

    @Test func theListHasTheUsersOwnNewestFirst() throws {
        let ids = try (1...3).map { _ in try #require(create()["id"]?.string) }
        _ = try client.agent(of: client.bootstrap(2), in: app)
        #expect(client.send(.get, Self.agents, token: phone.token).all("id", in: "agents") == ids.reversed())
    }

    // MARK: Revoking

    @Test func aRevokedAgentIsShutOutAndItsRequestsAreCancelled() throws {
        let agent = try client.agent(of: phone, in: app)
        let waiting = try client.ask(agent)
        let answer = client.send(.delete, "\(Self.agents)/\(agent.id)", token: phone.token)
        #expect(answer.status == 204 && answer.text.isEmpty)
        #expect("\(client.send(try agent.poll(waiting.id)))" == refusal(401, "invalid_token"))
        #expect(client.send(.get, Self.agents, token: phone.token).json == ["agents": []])
        #expect(
            client.send(.get, "/api/v1/me/agent_approvals/\(waiting.id)", token: phone.token)["status"] == "cancelled")
        #expect("\(client.decide(waiting, "approved", as: phone))" == refusal(409, "already_decided"))
        #expect(
            "\(client.send(.delete, "\(Self.agents)/\(agent.id)", token: phone.token))" == refusal(404, "not_found"))
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'agent.revoked'") == 1)
    }

    @Test func nobodyElseRevokesIt() throws {
        let agent = try client.agent(of: phone, in: app)
        let other = try client.bootstrap(2)
        try app.expectUnchanged {
            for id in [agent.id, "agt_unknown", "é"] {
                let answer = client.send(.delete, "\(Self.agents)/\(id)", token: other.token)
                #expect("\(answer)" == refusal(404, "not_found"))
            }
        }
    }

    @Test func revokedAgentsGoAfterTheirRequests() throws {
        func collect(_ kind: Garbage) throws -> Int { try app.operate { try $0.collect(kind, loginHistory: .zero) } }
        let agents = try (0..<3).map { _ in try client.agent(of: phone, in: app) }
        for agent in agents[1...] {
            if agent.id == agents[2].id { _ = try client.ask(agent, ["ttl_seconds": 60]) }
            #expect(client.send(.delete, "\(Self.agents)/\(agent.id)", token: phone.token).status == 204)
        }
        app.time.advance(by: .seconds(30 * 86_400) - .milliseconds(1))
        #expect(try collect(.revokedAgents) == 0)
        app.time.advance(by: .milliseconds(1))
        #expect(try collect(.revokedAgents) == 1, "the other one has a request")
        app.time.advance(by: .seconds(60))
        #expect(try collect(.revokedAgents) == 0)
        #expect(try collect(.endedAgentApprovals) == 1 && collect(.revokedAgents) == 1)
        #expect(try app.column("SELECT public_id FROM agents") == [agents[0].id])
        #expect(try app.count("SELECT COUNT(*) FROM agent_approval_history") == 2)
    }

    // MARK: Moving

    /// With their tokens, what they asked, its history, and what a repeated key leads to.
    @Test func agentsGoWithTheirUser() throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        let key = "k1"
        let waiting = try client.ask(agent, idempotencyKey: key)
        let owner = try client.signIn(app.proof("owner"), on: 2)
        let swap = app.proof("owner").adding(["provider": "apple"])
        let swapped = client.send(.post, "/api/v1/me/anonymous_swap", swap, token: phone.token)
        #expect(swapped["merged"]?["agent_approvals"] == ["transferred": 1, "skipped_duplicate": 0])
        #expect(client.send(try agent.asking(idempotencyKey: key)).status == 200)
        #expect(client.decide(waiting, "approved", as: owner, number: waiting.number).status == 200)
        #expect(try app.column("SELECT DISTINCT CONCAT(user_id) FROM agent_approval_history") == ["\(owner.userID)"])
    }

    @Test func whatHasExpiredIsNoDuplicate() throws {
        let owner = try client.signIn(app.proof("owner"), on: 2)
        for user in [phone, owner] { _ = try client.ask(client.agent(of: user, in: app)) }
        app.time.advance(by: .seconds(300))
        let swap = app.proof("owner").adding(["provider": "apple"])
        for isDryRun in [true, false] {
            let answer = client.send(
                .post, "/api/v1/me/anonymous_swap", swap.adding(["dry_run": .bool(isDryRun)]), token: phone.token)
            #expect(answer["merged"]?["agent_approvals"] == ["transferred": 1, "skipped_duplicate": 0], "\(answer)")
        }
    }
}
