import Accounts
import HTTP
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text
import Time

/// How agents authenticate: their bearer token and, of those that sign, each request (accounts §4.1).
@Suite struct AgentAuthenticationTests {
    let app: TestApp
    let client: Client
    let phone: Phone

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.bootstrap()
    }

    private func asking(_ agent: TestAgent, nonce: String? = nil, at time: Timestamp? = nil) throws -> AgentCall {
        try agent.request(
            .post, "/api/agents/approvals", TestAgent.body().json(), idempotencyKey: "key", at: time, nonce: nonce)
    }

    // MARK: Vectors

    /// Signed by Python's `cryptography`, with the key whose seed is 0, 1, 2, … 31; the second one by OpenSSL's command line,
    /// too.
    @Test(arguments: [
        AgentCall(
            method: .post, target: "/api/agents/approvals",
            body: Array(#"{"action_type":"shell.exec","title":"테스트","body":"x"}"#.utf8),
            headers: [
                ("x-agent-nonce", "00112233445566778899aabbccddeeff"),
                (
                    "x-agent-signature",
                    "8rx6DulYjNT1RKHmW9osnTpGQbftchCRq4KmoSeD472cLXm4bQdTLMkL5HrgeJ1CJ7/ygIc63JZaw5vo4spMDQ=="
                ),
            ]),
        AgentCall(
            method: .get, target: "/api/agents/approvals/aar_ABCDEFGHabcdefgh?a=%20b", body: [],
            headers: [
                ("x-agent-nonce", "00112233445566778899AABBCCDDEEFF0123"),
                (
                    "x-agent-signature",
                    "j6WtuInWGjYq5R6w5WIVSDlr9A7xy0oPr/nCvNEfWbqBNUYgS0AoSf09tcJfaTmAevL9XAF7nKI7RBQ9KRoxBQ=="
                ),
            ]),
    ])
    func signaturesMadeElsewhereAreAccepted(vector: AgentCall) throws {
        let agent = try client.agent(of: phone, in: app)
        try app.change(
            "UPDATE agents SET auth_mode = 'signed', public_id = 'agt_0123456789abcdef', public_key = ?",
            Base64.decode("A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=".utf8))
        var call = vector
        call.headers += [
            ("authorization", "Bearer \(agent.token)"), ("x-agent-timestamp", "1778569200"), ("idempotency-key", "k"),
        ]
        let answer = client.send(call)
        #expect(answer.status == 201 || "\(answer)" == refusal(404, "approval_not_found"), "\(answer)")
        call.body.append(UInt8(ascii: " "))
        #expect("\(client.send(call))" == refusal(401, "invalid_signature"))
    }

    // MARK: Tokens

    @Test func onlyALiveAgentsTokenIsAccepted() throws {
        let agent = try client.agent(of: phone, in: app)
        for token in [nil, "logi_agt_unknown", phone.token] {
            var call = try agent.asking()
            call.set("authorization", token.map { "Bearer \($0)" })
            let answer = client.send(call)
            #expect("\(answer)" == refusal(401, "invalid_token"))
            #expect(answer.header("WWW-Authenticate") == #"Bearer error="invalid_token""#)
        }
        #expect("\(client.send(.get, "/api/v1/me", token: agent.token))" == refusal(401, "invalid_token"))
        try app.change("UPDATE users SET deleted_at = NOW(3) WHERE id = ?", phone.userID)
        #expect("\(client.send(try agent.asking()))" == refusal(401, "invalid_token"))
    }

    // MARK: Signatures

    @Test func everyPartIsSigned() throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        let other = try client.agent(of: phone, in: app, signed: true)
        func expectRefused(
            _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
            _ change: (inout AgentCall) throws -> Void
        ) throws {
            var call = try asking(agent)
            try change(&call)
            #expect("\(client.send(call))" == refusal(401, "invalid_signature"), what, sourceLocation: sourceLocation)
        }
        try app.expectUnchanged {
            for name in ["x-agent-timestamp", "x-agent-nonce", "x-agent-signature"] {
                try expectRefused("no \(name)") { $0.set(name, nil) }
                try expectRefused("an empty \(name)") { $0.set(name, "") }
                try expectRefused("\(name) twice") { call in
                    call.headers += call.headers.filter { $0.name == name }
                }
            }
            try expectRefused("the method") { call in
                call.method = .get
                call.target += "/aar_1"
            }
            try expectRefused("the query") { $0.target += "?a=1" }
            try expectRefused("the body") { $0.body.append(UInt8(ascii: "\n")) }
            try expectRefused("the time") { [app] in $0.set("x-agent-timestamp", "\(app.time.now.seconds + 1)") }
            try expectRefused("the nonce") { $0.set("x-agent-nonce", String(repeating: "0", count: 32)) }
            try expectRefused("the agent") { $0.set("authorization", "Bearer \(other.token)") }
        }
        #expect(client.send(try asking(agent)).status == 201)
    }

    /// As the agent wrote it, whatever nginx makes of it.
    @Test func thePathIsSignedAsItIsWritten() throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        let written = try agent.request(
            .post, "/api/agents/%61pprovals?", TestAgent.body().json(), idempotencyKey: "key")
        let answer = client.send(
            Request(
                method: .post, path: "/api/agents/approvals", query: "", target: written.target,
                headers: Headers(written.headers), body: BufferedBody(written.body)))
        #expect(answer.status == 201, "\(answer)")
    }

    @Test(arguments: [-300_001, -300_000, 0, 300_000, 300_001]) func theClockMayBeFiveMinutesOff(by off: Int64) throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        let signedAt = app.time.now
        let call = try asking(agent, at: signedAt)
        // Ahead: the server's clock is the one that is set back.
        let server = try TestApp(
            database: app.database, time: TestClock(Timestamp(milliseconds: signedAt.milliseconds + off)))
        let answer = server.client().send(call)
        #expect(
            abs(off) <= 300_000 ? answer.status == 201 : "\(answer)" == refusal(401, "invalid_signature"), "\(answer)")
    }

    @Test(arguments: [
        ("x-agent-timestamp", "+1778569200"), ("x-agent-timestamp", "1778569200.0"),
        ("x-agent-timestamp", "0x6a02d5b0"),
        ("x-agent-timestamp", "9223372036854775807"), ("x-agent-timestamp", "99999999999999999999"),
        ("x-agent-nonce", String(repeating: "0", count: 31)), ("x-agent-nonce", String(repeating: "g", count: 32)),
    ])
    func malformedFieldsAreRefused(name: String, value: String) throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        let key = try #require(agent.key)
        let body = TestAgent.body().json()
        let (time, nonce) = (
            name == "x-agent-timestamp" ? value : "1778569200",
            name == "x-agent-nonce" ? value : String(repeating: "0", count: 32)
        )
        let message = "POST\n/api/agents/approvals\n\(time)\n\(nonce)\n\(sha256(body).hexadecimal)\n\(agent.id)"
        var call = try asking(agent)
        call.set("x-agent-timestamp", time)
        call.set("x-agent-nonce", nonce)
        call.set("x-agent-signature", Base64.encode(try key.sign(Array(message.utf8))))
        #expect("\(client.send(call))" == refusal(401, "invalid_signature"))
    }

    /// The row alone says whether an agent signs.
    @Test func signingCannotBeLeftOut() throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        var call = try asking(agent)
        for name in ["x-agent-timestamp", "x-agent-nonce", "x-agent-signature"] { call.set(name, nil) }
        call.set("x-agent-auth-mode", "bearer_only")
        #expect("\(client.send(call))" == refusal(401, "invalid_signature"))
        // Who does not sign is not asked to, whatever it sends.
        let open = try client.agent(of: phone, in: app)
        var signed = try open.asking()
        signed.set("x-agent-signature", "x")
        #expect(client.send(signed).status == 201)
    }

    // MARK: Nonces

    @Test func aNonceIsGoodOnceInElevenMinutes() throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        let call = try asking(agent)
        #expect(client.send(call).status == 201)
        #expect("\(client.send(call))" == refusal(401, "nonce_replay"))
        // Another instance, which has only the database in common.
        let other = try TestApp(database: app.database, time: app.time)
        #expect("\(other.client().send(call))" == refusal(401, "nonce_replay"))
        let nonce = try #require(call.headers.first { $0.name == "x-agent-nonce" }?.value)
        app.time.advance(by: .seconds(660))
        #expect("\(client.send(try asking(agent, nonce: nonce)))" == refusal(401, "nonce_replay"))
        app.time.advance(by: .milliseconds(1))
        #expect(client.send(try asking(agent, nonce: nonce)).status == 200)
    }

    /// Signed by a clock that is five minutes ahead, a request is valid for ten minutes.
    @Test func aNonceIsRememberedAsLongAsItsRequestIsValid() throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        let call = try asking(agent, at: app.time.now + .seconds(300))
        #expect(client.send(call).status == 201)
        app.time.advance(by: .seconds(600))
        #expect("\(client.send(call))" == refusal(401, "nonce_replay"))
        app.time.advance(by: .milliseconds(1))
        #expect("\(client.send(call))" == refusal(401, "invalid_signature"))
    }

    @Test func agentsHaveTheirOwnNonces() throws {
        let nonce = String(repeating: "a", count: 32)
        for _ in 0..<2 {
            let agent = try client.agent(of: phone, in: app, signed: true)
            #expect(client.send(try asking(agent, nonce: nonce)).status == 201)
        }
    }

    /// Who repeats a request that was refused must not find it accepted later.
    @Test func aRefusedRequestUsesItsNonceUp() throws {
        let agent = try client.agent(of: phone, in: app, signed: true, ["allowed_action_types": ["a"]])
        for call in [
            try agent.asking(), try agent.poll("aar_unknown"), try agent.cancel("aar_unknown"),
            try agent.request(.post, "/api/agents/approvals", Array("[]".utf8), idempotencyKey: "k"),
            try agent.request(.post, "/api/agents/approvals", TestAgent.body().json()),
        ] {
            let first = client.send(call)
            #expect(first.status >= 400 && first.error != "nonce_replay", "\(first)")
            #expect("\(client.send(call))" == refusal(401, "nonce_replay"))
        }
        // A signature that is none uses nothing up.
        let call = try agent.asking(["action_type": "a"])
        var forged = call
        forged.set("x-agent-signature", Base64.encode([UInt8](repeating: 0, count: 64)))
        #expect("\(client.send(forged))" == refusal(401, "invalid_signature"))
        #expect(client.send(call).status == 201)
    }

    @Test func ofOneNonceAtOnceOneIsAccepted() throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        let calls = try (0..<10).map { _ in try asking(agent) }
        let rounds = app.race(8, rounds: 10) { client, _, round in client.send(calls[round]) }
        for answers in rounds {
            #expect(answers.count { $0.error == "nonce_replay" } == 7, "\(answers)")
            #expect(answers.count { $0.status < 300 } == 1, "\(answers)")
        }
    }

    @Test func cleanUpErasesNoncesThatAreForgotten() throws {
        let agent = try client.agent(of: phone, in: app, signed: true)
        #expect(client.send(try asking(agent)).status == 201)
        func collect() throws -> Int { try app.operate { try $0.collect(.agentNonces, loginHistory: .zero) } }
        app.time.advance(by: .seconds(660))
        #expect(try collect() == 0)
        app.time.advance(by: .milliseconds(1))
        #expect(try collect() == 1)
    }

    /// Two instances share the database, and the clock of one is a minute behind. The agent's is as far ahead as it may be.
    @Test func noInstanceForgetsANonceThatAnotherWouldAccept() throws {
        let behind = try TestApp(database: app.database, time: TestClock(app.time.now - .seconds(60)))
        let agent = try client.agent(of: phone, in: app, signed: true)
        let call = try agent.request(
            .post, "/api/agents/approvals", TestAgent.body().json(), idempotencyKey: "k",
            at: app.time.now + .seconds(300))
        #expect(client.send(call).status == 201)
        for time in [app.time, behind.time] { time.advance(by: .seconds(660)) }
        _ = try app.operate { try $0.collect(.agentNonces, loginHistory: .zero) }
        #expect("\(behind.client().send(call))" == refusal(401, "nonce_replay"))
    }

    // MARK: Where from, and how

    @Test(arguments: [
        ("192.0.2.7", true), ("192.0.2.8", false), ("198.51.100.255", true), ("198.51.101.0", false),
        ("2001:db8::7", true), ("2001:DB8:0:0::7", true), ("2001:db8::8", false), ("::ffff:192.0.2.7", true),
        ("", false),
    ])
    func anAgentCallsFromWhereItMay(address: String, isAllowed: Bool) throws {
        let agent = try client.agent(
            of: phone, in: app, ["allowed_ips": ["192.0.2.7", "198.51.100.0/24", "2001:db8::7"]])
        var call = try agent.asking()
        call.address = address
        let answer = client.send(call)
        #expect(isAllowed ? answer.status == 201 : "\(answer)" == refusal(403, "ip_not_allowed"), "\(answer)")
    }

    /// Both spellings of an IPv4 address and of a block mean the same (RFC 4291 §2.5.5.2).
    @Test(arguments: ["198.51.100.7", "::ffff:198.51.100.7", "198.51.101.7", "2001:db8::7"])
    func mappedBlocksAreBlocks(address: String) throws {
        for block in ["198.51.100.0/24", "::ffff:198.51.100.0/120", "::ffff:c633:6400/120"] {
            let agent = try client.agent(of: phone, in: app, ["allowed_ips": [.string(block)]])
            var call = try agent.poll("aar_1")
            call.address = address
            let isAllowed = address.hasSuffix("198.51.100.7")
            #expect(client.send(call).error == (isAllowed ? "approval_not_found" : "ip_not_allowed"), "\(block)")
        }
    }

    @Test func whereAgentsHaveToSignOthersAreRefused() throws {
        let (open, signed) = (
            try client.agent(of: phone, in: app), try client.agent(of: phone, in: app, signed: true)
        )
        let strict = try TestApp(
            settings: AccountsSettings(issuer: TestApp.issuer, allowsBearerOnlyAgents: false), database: app.database,
            time: app.time
        ).client()
        #expect("\(strict.send(try open.asking()))" == refusal(403, "bearer_only_disabled"))
        #expect("\(strict.send(try open.poll("aar_1")))" == refusal(403, "bearer_only_disabled"))
        #expect(strict.send(try signed.asking()).status == 201)
    }

    /// The statuses of the table in ascending order, each with everything after it at fault, too.
    @Test func checksComeInOrder() throws {
        let agent = try client.agent(
            of: phone, in: app, signed: true, ["allowed_ips": ["192.0.2.7"], "allowed_action_types": ["a", "b"]])
        let used = try agent.asking(["action_type": "a"], idempotencyKey: "used")
        #expect(client.send(used).status == 201)
        func bad(_ body: JSONValue, key: String? = "used", from address: String = "192.0.2.7") throws -> String {
            var call = try agent.request(.post, "/api/agents/approvals", body.json(), idempotencyKey: key)
            call.address = address
            return client.send(call).error ?? ""
        }
        var call = used
        call.address = "192.0.2.8"
        call.set("idempotency-key", nil)
        #expect(client.send(call).error == "nonce_replay")
        #expect(try bad([:], key: nil, from: "192.0.2.8") == "ip_not_allowed", "who is not let in learns nothing more")
        #expect(try bad(["action_type": "c"], key: nil) == "missing_idempotency_key")
        #expect(try bad(["action_type": 7]) == "invalid_request")
        #expect(try bad(["action_type": "c"]) == "action_not_allowed")
        #expect(try bad(["action_type": "a"]) == "idempotency_conflict")
        #expect(try bad(["action_type": "a"], key: "new") == "invalid_approval")
    }
}
