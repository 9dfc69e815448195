import Accounts
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// What people see of agents' requests, and how they decide (accounts §4.1).
@Suite struct ApprovalDecisionTests {
    private static let approvals = "/api/v1/me/agent_approvals"

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

    private func list(_ query: String = "", as other: Phone? = nil) -> Answer {
        client.send(.get, Self.approvals + query, token: (other ?? phone).token)
    }

    private func show(_ approval: PendingApproval, as other: Phone? = nil) -> Answer {
        client.send(.get, "\(Self.approvals)/\(approval.id)", token: (other ?? phone).token)
    }

    // MARK: Reading

    /// The members that are hashed have the names that they are hashed by.
    @Test func peopleSeeEverythingButTheNumber() throws {
        let approval = try client.ask(agent)
        let shown: JSONValue = [
            "id": .string(approval.id), "status": "pending", "agent_id": .string(agent.id), "agent_name": "Büro-Agent",
            "agent_type": "claude", "action_type": "shell.exec", "title": "테스트 실행", "body": "swift test\n--filter x",
            "context": ["b": [1, 2.5, true, .null], "a": "/tmp", "€": "€"],
            "display_payload_hash": .string(approval.hash), "created_at": "2026-05-12T07:00:00Z",
            "expires_at": "2026-05-12T07:05:00Z", "decided_at": .null,
        ]
        for answer in [show(approval), list()] {
            #expect(answer.status == 200 && answer.header("Cache-Control") == "no-store")
            #expect(!answer.text.contains(#""\#(approval.number)""#) && !answer.text.contains("number_match"))
        }
        #expect(show(approval).json == shown)
        #expect(list().json == ["agent_approvals": [shown], "next_cursor": .null])
    }

    @Test func othersSeeNothing() throws {
        let approval = try client.ask(agent)
        let other = try client.bootstrap(2)
        #expect("\(show(approval, as: other))" == refusal(404, "approval_not_found"))
        #expect(list(as: other).json == ["agent_approvals": [], "next_cursor": .null])
        try app.expectUnchanged {
            let answer = client.decide(approval, "approved", as: other, number: approval.number)
            #expect("\(answer)" == refusal(404, "approval_not_found"))
        }
    }

    @Test func theListIsOfOneStatusIfItIsAsked() throws {
        let late = try client.ask(agent, ["title": "late", "ttl_seconds": 30])
        app.time.advance(by: .seconds(30))
        let marked = try client.ask(agent, ["title": "marked", "ttl_seconds": 30])
        app.time.advance(by: .seconds(30))
        _ = try app.operate { try $0.collect(.agentApprovals, loginHistory: .zero) }
        let second = try client.ask(agent, ["title": "second late", "ttl_seconds": 30])
        app.time.advance(by: .seconds(30))
        let approved = try client.ask(agent, ["title": "approved"])
        #expect(client.decide(approved, "approved", as: phone, number: approved.number).status == 200)
        let cancelled = try client.ask(agent, ["title": "cancelled"])
        #expect(client.send(try agent.cancel(cancelled.id)).status == 200)
        let pending = try client.ask(agent, ["title": "pending"])
        let rejected = try client.ask(agent, ["title": "rejected"])
        #expect(client.decide(rejected, "rejected", as: phone).status == 200)
        func ids(_ query: String) -> [String] { list(query).all("id", in: "agent_approvals") }
        #expect(ids("?status=pending") == [pending.id])
        #expect(ids("?status=approved") == [approved.id])
        #expect(ids("?status=rejected") == [rejected.id])
        #expect(ids("?status=cancelled") == [cancelled.id])
        #expect(ids("?status=expired") == [second.id, marked.id, late.id], "marked or not")
        #expect(list("?status=expired").all("status", in: "agent_approvals") == ["expired", "expired", "expired"])
        #expect(ids("").count == 7)
        for status in ["", "Pending", "denied", "e\u{301}"] {
            #expect("\(list("?status=\(status)"))" == refusal(400, "invalid_request"))
        }
    }

    @Test func theListGoesOnAtItsCursor() throws {
        let ids = try (1...7).map { try client.ask(agent, ["title": .string("\($0)")]).id }
        var seen: [String] = []
        var cursor = ""
        repeat {
            let page = list("?limit=3\(cursor)&status=pending")
            seen += page.all("id", in: "agent_approvals")
            cursor = page["next_cursor"]?.string.map { "&before=\($0)" } ?? ""
        } while !cursor.isEmpty
        #expect(seen == ids.reversed())
        #expect("\(list("?before=aar_unknown"))" == refusal(400, "invalid_cursor"))
        #expect("\(list("?limit=0"))" == refusal(400, "invalid_request"))
        let other = try client.bootstrap(2)
        #expect("\(list("?before=\(ids[0])", as: other))" == refusal(400, "invalid_cursor"))
    }

    // MARK: Deciding

    @Test func approvingNeedsTheNumber() throws {
        let approval = try client.ask(agent)
        app.time.advance(by: .seconds(10))
        let answer = client.decide(approval, "approved", as: phone, number: approval.number, hash: approval.hash)
        #expect(answer.status == 200)
        #expect(answer["status"] == "approved" && answer["decided_at"] == "2026-05-12T07:00:10Z")
        #expect(answer.json == show(approval).json)
        #expect(
            try app.column(
                "SELECT CONCAT(user_id, ' ', actor, ' ', action, ' ', details) FROM audit_log WHERE action LIKE 'approval%'"
            ) == [
                "\(phone.userID) user:\(phone.userID) approval.decided "
                    + #"{"approval":"\#(approval.id)","agent_id":"\#(agent.id)","status":"approved"}"#
            ])
    }

    @Test func rejectingDoesNot() throws {
        let approval = try client.ask(agent)
        let answer = client.decide(approval, "rejected", as: phone)
        #expect(answer.status == 200 && answer["status"] == "rejected")
    }

    @Test func theThirdWrongNumberRejects() throws {
        let approval = try client.ask(agent)
        for number in [approval.wrongNumber, nil, String(approval.number.dropFirst())] {
            #expect(show(approval)["status"] == "pending")
            let answer = client.decide(approval, "approved", as: phone, number: number)
            #expect("\(answer)" == refusal(422, "number_mismatch"))
        }
        #expect(show(approval)["status"] == "rejected")
        let late = client.decide(approval, "approved", as: phone, number: approval.number)
        #expect("\(late)" == refusal(409, "already_decided"))
        #expect(client.send(try agent.asking(["title": "again"])).error == "cool_down")
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'approval.decided'") == 1)
    }

    @Test func twoWrongNumbersAreForgiven() throws {
        let approval = try client.ask(agent)
        for _ in 0..<2 { _ = client.decide(approval, "approved", as: phone, number: approval.wrongNumber) }
        #expect(client.decide(approval, "approved", as: phone, number: approval.number).status == 200)
    }

    @Test(arguments: ["approved", "rejected"]) func onlyTheFirstDecisionCounts(first: String) throws {
        let approval = try client.ask(agent)
        #expect(client.decide(approval, first, as: phone, number: approval.number).status == 200)
        try app.expectUnchanged {
            for decision in ["approved", "rejected"] {
                let answer = client.decide(approval, decision, as: phone, number: approval.number)
                #expect("\(answer)" == refusal(409, "already_decided"))
            }
        }
    }

    @Test(arguments: [false, true]) func afterItsTimeNothingIsDecided(isMarked: Bool) throws {
        let approval = try client.ask(agent)
        app.time.advance(by: .milliseconds(299_999))
        #expect(client.decide(approval, "approved", as: phone, number: approval.wrongNumber).error == "number_mismatch")
        app.time.advance(by: .milliseconds(1))
        if isMarked { #expect(try app.operate { try $0.collect(.agentApprovals, loginHistory: .zero) } == 1) }
        try app.expectUnchanged {
            for decision in ["approved", "rejected"] {
                let answer = client.decide(approval, decision, as: phone, number: approval.number)
                #expect("\(answer)" == refusal(409, "approval_expired"))
            }
        }
    }

    @Test(arguments: [
        #"{}"#, #"{"decision":"approve"}"#, #"{"decision":"Approved","number_match":"1"}"#, #"{"decision":true}"#,
        #"{"decision":"approved","number_match":42917}"#, #"{"decision":"rejected","display_payload_hash":7}"#, "[]",
        #"{"decision":"approved","number_match":"\ud83d"}"#,
    ])
    func whatIsNoDecisionChangesNothing(body: String) throws {
        let approval = try client.ask(agent)
        try app.expectUnchanged {
            let answer = client.send(
                .post, "\(Self.approvals)/\(approval.id)/decide", bytes: Array(body.utf8), token: phone.token)
            #expect("\(answer)" == refusal(400, "invalid_request"))
        }
    }

    // MARK: What was seen

    @Test func whatThePhoneShowedIsWhatIsDecided() throws {
        let approval = try client.ask(agent)
        try app.expectUnchanged {
            for hash in ["", approval.hash.uppercased(), String(repeating: "0", count: 64)] {
                for decision in ["approved", "rejected"] {
                    let answer = client.decide(approval, decision, as: phone, number: approval.number, hash: hash)
                    #expect("\(answer)" == refusal(409, "payload_changed"))
                }
            }
        }
    }

    /// Whoever changes the rows, with whatever they find there.
    @Test(
        arguments: [
            "UPDATE agent_approvals SET title = 'Nothing dangerous'",
            "UPDATE agent_approvals SET body = CONCAT(body, ' ')",
            "UPDATE agent_approvals SET action_type = 'Shell.exec'", "UPDATE agents SET name = 'Claude'",
            "UPDATE agents SET agent_type = 'codex'", "UPDATE agent_approvals SET sealed_request = NULL",
            "UPDATE agent_approvals SET sealed_request = CONCAT(LEFT(sealed_request, 40), 'x')",
            """
            UPDATE agent_approvals a JOIN agent_approvals b ON b.id <> a.id
            SET a.sealed_request = b.sealed_request WHERE a.title <> 'other'
            """, "UPDATE agent_approvals SET display_payload_hash = SHA2('x', 256)",
        ] as [StaticString])
    func aChangedRowIsNotDecided(change: StaticString) throws {
        let approval = try client.ask(agent)
        _ = try client.ask(client.agent(of: phone, in: app), ["title": "other", "context": [:]])
        try app.change(change)
        try app.expectUnchanged {
            for decision in ["approved", "rejected"] {
                let answer = client.decide(approval, decision, as: phone, number: approval.number)
                #expect("\(answer)" == refusal(409, "payload_changed"))
            }
        }
    }

    /// What people cannot see they do not decide, but they see the rest.
    @Test(arguments: ["not sealed", ""]) func aContextThatCannotBeOpenedHidesNothingElse(sealed: String) throws {
        let (first, second) = (try client.ask(agent), try client.ask(agent, ["title": "second"]))
        try app.change("UPDATE agent_approvals SET sealed_request = ? WHERE public_id = ?", sealed, first.id)
        let listed = list()["agent_approvals"]?.array ?? []
        #expect(listed.map { $0["id"]?.string } == [second.id, first.id], "\(list())")
        #expect(listed.first?["context"] == TestAgent.body()["context"])
        #expect(listed.last?["context"] == .null && listed.last?["title"] == "테스트 실행")
        #expect(show(first)["context"] == .null)
        #expect(app.log.lines.contains { $0.contains("cannot be opened") && $0.contains(first.id) })
        for decision in ["approved", "rejected"] {
            let answer = client.decide(first, decision, as: phone, number: first.number)
            #expect("\(answer)" == refusal(409, "payload_changed"))
        }
        #expect(client.decide(second, "approved", as: phone, number: second.number).status == 200)
    }

    // MARK: Failures

    @Test func aFailureDecidesNothing() throws {
        for isThird in [false, true] {
            try FailureInjection(app: app) { [app, phone] client in
                let agent = try client.agent(of: phone, in: app)
                let approval = try client.ask(agent)
                if isThird {
                    for _ in 0..<2 { _ = client.decide(approval, "approved", as: phone, number: approval.wrongNumber) }
                }
                let number = isThird ? approval.wrongNumber : approval.number
                return RepeatableRequest(
                    method: .post, path: "\(Self.approvals)/\(approval.id)/decide",
                    body: ["decision": "approved", "number_match": .string(number)], token: phone.token)
            }.run(
                expecting: ["agent_approvals UPDATE", "agent_approval_history INSERT", "audit_log INSERT"],
                status: isThird ? 422 : 200)
        }
    }
}
