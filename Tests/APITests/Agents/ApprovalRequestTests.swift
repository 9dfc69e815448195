import Accounts
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// POST /api/agents/approvals (accounts §4.1).
@Suite struct ApprovalRequestTests {
    let app: TestApp
    let client: Client
    let phone: Phone
    let agent: TestAgent

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.bootstrap()
        agent = try client.agent(of: phone, in: app)
    }

    // MARK: The answer

    /// The hash is that of Python's `json.dumps(…, sort_keys=True, separators=(",", ":"))`.
    @Test func theAnswerIsWhatTheAgentShowsAndKeeps() throws {
        let answer = client.send(try agent.asking())
        #expect(answer.status == 201)
        let (id, number) = (try #require(answer["auth_req_id"]?.string), try #require(answer["number_match"]?.string))
        #expect(id.wholeMatch(of: /aar_[A-Za-z0-9]{16}/) != nil)
        #expect(number.wholeMatch(of: /[0-9]{6}/) != nil)
        #expect(
            answer.text == #"""
                {"auth_req_id":"\#(id)","status":"pending","action_type":"shell.exec","number_match":"\#(number)",\#
                "display_payload_hash":"7d89d4888b13a52f0153678ba47278e1ab5da99a5fbb12e6392963b48a510d09",\#
                "expires_in":300,"interval":2}
                """#)
        #expect(answer.header("Cache-Control") == "no-store")
    }

    /// A number says nothing about another, and begins with zero as often as with anything else.
    @Test func numbersAreRandom() throws {
        let numbers = try (0..<10).map { try client.ask(agent, ["title": .string("\($0)")]).number }
        #expect(Set(numbers).count == 10)
    }

    @Test func contextAndNumberAreSealed() throws {
        let approval = try client.ask(agent, ["context": ["secret": "in the context"]])
        let dump = try app.database.dump()
        #expect(!dump.contains("in the context") && !dump.contains(#""\#(approval.number)"#))
        for line in app.log.lines { #expect(!line.contains("in the context") && !line.contains(agent.token)) }
    }

    @Test(arguments: [30, 300, 1800]) func itLivesAsLongAsTheAgentSays(seconds: Int) throws {
        let answer = client.send(try agent.asking(["ttl_seconds": .integer(Int64(seconds))], idempotencyKey: "k"))
        #expect(answer["expires_in"]?.integer == seconds)
        let id = try #require(answer["auth_req_id"]?.string)
        app.time.advance(by: .seconds(seconds) - .milliseconds(1))
        #expect(client.send(try agent.poll(id))["status"] == "pending")
        app.time.advance(by: .milliseconds(1))
        let again = client.send(try agent.asking(["ttl_seconds": .integer(Int64(seconds))], idempotencyKey: "k"))
        #expect(again["status"] == "expired" && again["expires_in"] == 0, "\(again)")
    }

    @Test func aRequestMayHaveNoContext() throws {
        let approval = try client.ask(agent, ["context": nil])
        #expect(try client.ask(agent, ["context": .null]).id == approval.id, "which is an empty one")
        #expect(try client.ask(agent, ["context": [:]]).id == approval.id)
    }

    // MARK: Faults

    @Test(
        arguments: [
            (["title": nil], ["title"]), (["action_type": nil, "body": " "], ["action_type", "body"]),
            (["title": "a\nb"], ["title"]), (["title": "a\u{202E}b"], ["title"]),
            (["title": .string(String(repeating: "a", count: 201))], ["title"]),
            (["action_type": .string(String(repeating: "a", count: 101))], ["action_type"]),
            (["body": "a\u{2066}b"], ["body"]), (["body": "a\u{1B}[31mb"], ["body"]),
            (["body": .string(String(repeating: "a", count: 10_001))], ["body"]),
            (["context": ["a": ["b": "\u{202D}"]]], ["context"]), (["context": ["\u{202D}": 1]], ["context"]),
            // Numbers that canonical JSON would write as others.
            (["context": ["a": [9_007_199_254_740_993]]], ["context"]), (["ttl_seconds": 29], ["ttl_seconds"]),
            (["ttl_seconds": 1801, "title": ""], ["title", "ttl_seconds"]), (["ttl_seconds": -1], ["ttl_seconds"]),
            (["ttl_seconds": .integer(.max)], ["ttl_seconds"]),
        ] as [(KeyValuePairs<String, JSONValue?>, [String])])
    func everyFieldAtFaultIsNamed(changes: KeyValuePairs<String, JSONValue?>, fields: [String]) throws {
        try app.expectUnchanged {
            let answer = client.send(try agent.asking(changes))
            #expect(answer.status == 422)
            #expect(answer.json == ["error": "invalid_approval", "fields": .array(fields.map(JSONValue.string))])
        }
    }

    @Test(arguments: [
        "[]", "x", #"{"title":7}"#, #"{"context":[]}"#, #"{"context":"x"}"#, #"{"ttl_seconds":"300"}"#,
        #"{"ttl_seconds":30.5}"#, #"{"title":"\ud83d"}"#, #"{"context":{"a":["\udc00"]}}"#,
        #"{"action_type":"\ud83d"}"#,
    ])
    func whatIsMalformedIsRefused(body: String) throws {
        try app.expectUnchanged {
            let call = try agent.request(.post, "/api/agents/approvals", Array(body.utf8), idempotencyKey: "k")
            #expect("\(client.send(call))" == refusal(400, "invalid_request"))
        }
    }

    @Test(arguments: [nil, "", "a b", "é", String(repeating: "a", count: 256)])
    func aKeyIsRequired(key: String?) throws {
        let call = try agent.request(.post, "/api/agents/approvals", TestAgent.body().json(), idempotencyKey: key)
        let expected = key == nil ? refusal(401, "missing_idempotency_key") : refusal(400, "invalid_request")
        #expect("\(client.send(call))" == expected)
    }

    @Test func onlyAllowedActionsAreAskedFor() throws {
        let bound = try client.agent(of: phone, in: app, ["allowed_action_types": ["git.push", "é"]])
        for type in ["git.pull", "git.push ", "", "e\u{301}"] {
            let answer = client.send(try bound.asking(["action_type": .string(type)]))
            #expect("\(answer)" == refusal(403, "action_not_allowed"))
        }
        #expect(client.send(try bound.asking(["action_type": nil])).error == "invalid_approval")
        #expect(client.send(try bound.asking(["action_type": "é"])).status == 201)
    }

    // MARK: Repetition

    @Test func aKeyLeadsToItsRequestForEver() throws {
        let first = client.send(try agent.asking(idempotencyKey: "k"))
        let repeated = client.send(try agent.asking(idempotencyKey: "k"))
        #expect(first.status == 201 && repeated.status == 200)
        #expect(repeated.json == first.json)
        let approval = try PendingApproval(first)
        app.time.advance(by: .seconds(100))
        #expect(client.decide(approval, "approved", as: phone, number: approval.number).status == 200)
        app.time.advance(by: .seconds(10 * 365 * 86_400))
        let late = client.send(try agent.asking(idempotencyKey: "k"))
        #expect(late.status == 200 && late["status"] == "approved" && late["expires_in"] == 0)
        #expect(late["number_match"] == first["number_match"] && late["auth_req_id"] == first["auth_req_id"])
    }

    @Test func aKeyIsForOneBodyAndOneAgent() throws {
        let approval = try client.ask(agent, idempotencyKey: "k")
        let other = client.send(try agent.asking(["title": "Other"], idempotencyKey: "k"))
        #expect("\(other)" == refusal(409, "idempotency_conflict"))
        let neighbour = try client.agent(of: phone, in: app)
        #expect(try client.ask(neighbour, idempotencyKey: "k").id != approval.id)
    }

    @Test func whatShowsTheSameIsOneRequestWhileItWaits() throws {
        let first = client.send(try agent.asking(["ttl_seconds": 300], idempotencyKey: "a"))
        app.time.advance(by: .milliseconds(60_500))
        let second = client.send(try agent.asking(["ttl_seconds": 600], idempotencyKey: "b"))
        #expect(first.status == 201 && second.status == 200)
        #expect(second["auth_req_id"] == first["auth_req_id"] && second["number_match"] == first["number_match"])
        #expect(second["expires_in"] == 240)
        // Both keys go on leading to it after it has ended; a third one does not.
        app.time.advance(by: .seconds(300))
        for (key, ttl) in [("a", 300), ("b", 600)] {
            let again = client.send(try agent.asking(["ttl_seconds": .integer(Int64(ttl))], idempotencyKey: key))
            #expect(again["auth_req_id"] == first["auth_req_id"] && again["status"] == "expired")
        }
        #expect(try client.ask(agent, idempotencyKey: "c").id != first["auth_req_id"]?.string)
    }

    @Test func anotherAgentsRequestIsNotTheSame() throws {
        let neighbour = try client.agent(of: phone, in: app)
        #expect(try client.ask(agent).id != client.ask(neighbour).id)
    }

    // MARK: Limits

    @Test func tenMayWait() throws {
        for number in 0..<10 {
            _ = try client.ask(agent, ["title": .string("\(number)"), "ttl_seconds": .integer(Int64(60 + number))])
        }
        let refused = client.send(try agent.asking())
        #expect("\(refused)" == refusal(429, "too_many_pending"))
        #expect(refused.header("Retry-After") == "60")
        // What waits already, and other agents, are not refused.
        #expect(client.send(try agent.asking(["title": "0", "ttl_seconds": 60])).status == 200)
        #expect(client.send(try client.agent(of: phone, in: app).asking()).status == 201)
        app.time.advance(by: .seconds(60))
        #expect(client.send(try agent.asking()).status == 201)
    }

    @Test func fiftyMayWaitForAUser() throws {
        let agents = try (0..<6).map { _ in try client.agent(of: phone, in: app) }
        for number in 0..<50 {
            _ = try client.ask(
                agents[number % 5], ["title": .string("\(number)"), "ttl_seconds": .integer(Int64(60 + number))])
        }
        let refused = client.send(try agents[5].asking())
        #expect("\(refused)" == refusal(429, "too_many_pending"))
        #expect(refused.header("Retry-After") == "60")
        // What waits already is not refused, nor are agents of others.
        #expect(client.send(try agents[0].asking(["title": "0", "ttl_seconds": 60])).status == 200)
        #expect(client.send(try client.agent(of: client.bootstrap(2), in: app).asking()).status == 201)
        app.time.advance(by: .seconds(60))
        #expect(client.send(try agents[5].asking()).status == 201)
        #expect(client.send(try agents[5].asking(["title": "another"])).error == "too_many_pending")
    }

    /// The count is one read of as many entries of an index, however many others have ended or wait for clean-up.
    @Test func whatWaitsForAUserIsCountedToALimit() throws {
        let agents = try (0..<6).map { _ in try client.agent(of: phone, in: app) }
        for number in 0..<50 { _ = try client.ask(agents[number % 5], ["title": .string("\(number)")]) }
        let meter = try ReadMeter(app)
        let costs = try [0, 5000].map { size in
            try app.change(
                """
                INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash, expires_at)
                SELECT ?, (SELECT id FROM agents WHERE public_id = ?), CONCAT('aar_', LPAD(seq, 16, '0')),
                       IF(seq % 2, 'pending', 'cancelled'), '', ?
                FROM seq_1_to_5000 LIMIT ?
                """, phone.userID, agents[5].id, app.time.now, size)
            let (answer, cost) = try meter.measure { client in
                do { return client.send(try agents[5].asking()) } catch { return Answer(Response(.badGateway)) }
            }
            #expect("\(answer)" == refusal(429, "too_many_pending"))
            return cost.rowsRead
        }
        #expect(costs[1] <= costs[0] + 4, "\(costs)")
    }

    @Test func aThousandInADayOfAllAgents() throws {
        // Its counter, as 999 requests leave it: under new keys, of whichever agents.
        _ = try client.ask(agent)
        try app.change(
            "UPDATE rate_limits SET count = 999 WHERE count = 1 AND expires_at = ?", app.time.now + .seconds(86_400))
        #expect(client.send(try client.agent(of: phone, in: app).asking()).status == 201)
        let refused = client.send(try client.agent(of: phone, in: app).asking())
        #expect("\(refused)" == refusal(429, "rate_limited"))
        #expect(refused.header("Retry-After") == "86400")
        #expect(client.send(try client.agent(of: client.bootstrap(2), in: app).asking()).status == 201)
        app.time.advance(by: .seconds(86_400))
        #expect(client.send(try agent.asking()).status == 201)
    }

    @Test func afterARejectionAnActionCoolsDown() throws {
        let approval = try client.ask(agent, ["title": "first"])
        #expect(client.decide(approval, "rejected", as: phone).status == 200)
        app.time.advance(by: .milliseconds(90_500))
        let refused = client.send(try agent.asking())
        #expect("\(refused)" == refusal(429, "cool_down"))
        #expect(refused.header("Retry-After") == "510")
        #expect(client.send(try agent.asking(["action_type": "other"])).status == 201)
        #expect(client.send(try client.agent(of: phone, in: app).asking()).status == 201)
        app.time.advance(by: .milliseconds(509_499))
        #expect(client.send(try agent.asking()).error == "cool_down")
        app.time.advance(by: .milliseconds(1))
        #expect(client.send(try agent.asking()).status == 201)
    }

    @Test func aNumberThatCannotBeOpenedIsLeftOut() throws {
        #expect(client.send(try agent.asking(idempotencyKey: "1")).status == 201)
        try app.change("UPDATE agent_approvals SET sealed_request = 'x'")
        for key in ["1", "2"] {
            let answer = client.send(try agent.asking(idempotencyKey: key))
            #expect(answer.status == 200 && answer["number_match"]?.string == "", "\(answer)")
        }
    }

    @Test func thirtyInAMinute() throws {
        for number in 0..<30 {
            // The same under new keys counts; the same key does not.
            #expect(client.send(try agent.asking(idempotencyKey: "\(number)")).status == (number == 0 ? 201 : 200))
            #expect(client.send(try agent.asking(idempotencyKey: "0")).status == 200)
        }
        let refused = client.send(try agent.asking())
        #expect("\(refused)" == refusal(429, "rate_limited"))
        #expect(refused.header("Retry-After") == "60")
        // It is not taken from what the user's other agents may ask for.
        #expect(
            try app.count("SELECT count FROM rate_limits WHERE expires_at = ?", app.time.now + .seconds(86_400)) == 30)
        app.time.advance(by: .seconds(60))
        #expect(client.send(try agent.asking()).status == 200)
    }

    // MARK: Clean-up

    /// 30 days after its ttl, whenever it was decided. The history stays, and one that waits, or never ends.
    @Test func endedRequestsGoAfterThirtyDays() throws {
        func collect() throws -> Int { try app.operate { try $0.collect(.endedAgentApprovals, loginHistory: .zero) } }
        let decided = try client.ask(agent, ["title": "decided"], idempotencyKey: "decided")
        #expect(client.decide(decided, "approved", as: phone, number: decided.number).status == 200)
        let cancelled = try client.ask(agent, ["title": "cancelled"])
        #expect(client.send(try agent.cancel(cancelled.id)).status == 200)
        let rejected = try client.ask(agent, ["title": "rejected", "action_type": "b"])
        #expect(client.decide(rejected, "rejected", as: phone).status == 200)
        let late = try client.ask(agent, ["title": "late"])
        let imported = try client.ask(agent, ["title": "imported"])
        try app.change("UPDATE agent_approvals SET expires_at = NULL WHERE public_id = ?", imported.id)
        let history = try app.count("SELECT COUNT(*) FROM agent_approval_history")
        app.time.advance(by: .seconds(300 + 30 * 86_400) - .milliseconds(1))
        #expect(try collect() == 0)
        app.time.advance(by: .milliseconds(1))
        #expect(try collect() == 3 && collect() == 0, "what nobody has marked waits")
        #expect(
            client.send(try agent.asking(["title": "decided"], idempotencyKey: "decided")).status == 201,
            "its key is free")
        #expect(try app.operate { try $0.collect(.agentApprovals, loginHistory: .zero) } == 1)
        #expect(try collect() == 1)
        #expect("\(client.decide(late, "rejected", as: phone))" == refusal(404, "approval_not_found"))
        #expect(try app.count("SELECT COUNT(*) FROM agent_approval_keys") == 2)
        #expect(
            try app.column("SELECT title FROM agent_approvals ORDER BY id") == ["imported", "decided"])
        #expect(try app.count("SELECT COUNT(*) FROM agent_approval_history") == history + 2, "asked, and expired")
    }

    /// One batch of many, read from the ends of an index.
    @Test func cleanUpTakesABatch() throws {
        _ = try client.ask(agent)
        try app.change(
            """
            INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash, expires_at)
            SELECT r.user_id, r.agent_id, CONCAT('aar_', LPAD(seq, 16, '0')),
                   ELT(1 + seq % 4, 'approved', 'rejected', 'expired', 'cancelled'), '', ? - INTERVAL 31 DAY
            FROM agent_approvals r JOIN seq_1_to_1200
            """, app.time.now)
        func collect() throws -> Int { try app.operate { try $0.collect(.endedAgentApprovals, loginHistory: .zero) } }
        #expect(try [collect(), collect(), collect(), collect()] == [500, 500, 200, 0])
        #expect(try app.count("SELECT COUNT(*) FROM agent_approvals") == 1)
        let plan = try app.column(
            """
            EXPLAIN FORMAT=JSON SELECT id FROM agent_approvals FORCE INDEX (agent_approvals_expires)
            WHERE status IN ('approved', 'rejected', 'expired', 'cancelled') AND expires_at <= NOW() LIMIT 500
            """
        ).joined()
        #expect(plan.contains(#""access_type": "range""#) && !plan.contains("filesort"), "\(plan)")
    }

    // MARK: Failures

    @Test func aFailureLeavesNothingHalfDone() throws {
        try FailureInjection(app: app) { [app, phone] client in
            // A new one each time, which has not asked before.
            let call = try client.agent(of: phone, in: app, signed: true).asking()
            return RepeatableRequest(
                method: .post, path: call.target, body: try JSONValue(json: call.body), headers: call.headers)
        }.run(
            expecting: [
                "agent_nonces INSERT", "agent_approvals INSERT", "agent_approval_keys INSERT",
                "agent_approval_history INSERT", "rate_limits INSERT",
            ], status: 201)
    }
}
