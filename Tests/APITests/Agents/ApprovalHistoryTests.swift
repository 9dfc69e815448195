import API
import Accounts
import HTTP
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text
import Time

/// The history of requests: a chain of rows that nobody changes (accounts §4.1).
@Suite struct ApprovalHistoryTests {
    let app: TestApp
    let client: Client
    let phone: Phone
    let agent: TestAgent

    init() throws { try self.init(time: TestClock()) }

    private init(time: TestClock) throws {
        app = try TestApp(time: time)
        client = app.client()
        phone = try client.bootstrap()
        agent = try client.agent(of: phone, in: app)
    }

    private struct Row {
        let sequence: Int
        let event: String
        let at: Timestamp
        let hash: String
        let previous: [UInt8]
        let digest: [UInt8]
    }

    private func rows(of approval: String) throws -> [Row] {
        try app.sql { db in
            try db.all(
                """
                SELECT sequence, event, at, display_payload_hash, previous_digest, digest FROM agent_approval_history
                WHERE approval = ? ORDER BY sequence
                """, approval
            ) { row in
                Row(
                    sequence: try row.read(), event: try row.read(), at: try row.read(), hash: try row.read(),
                    previous: try row.read(), digest: try row.read())
            }
        }
    }

    /// Checks every digest by the form that the specification gives, written here once more.
    ///
    /// - Returns: what happened, in order.
    @discardableResult
    private func verify(_ approval: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [String] {
        var last = [UInt8](repeating: 0, count: 32)
        let rows = try rows(of: approval)
        for (index, row) in rows.enumerated() {
            let text =
                #"{"approval":"\#(approval)","at":"\#(row.at.iso8601Milliseconds)","display_payload_hash":"\#(row.hash)","#
                + #""event":"\#(row.event)","previous":"\#(last.hexadecimal)","sequence":\#(index + 1)}"#
            #expect(row.sequence == index + 1 && row.previous == last, sourceLocation: sourceLocation)
            #expect(row.digest == sha256(text.utf8), sourceLocation: sourceLocation)
            last = row.digest
        }
        let end = try app.sql { db in
            try db.first("SELECT history_length, history_digest FROM agent_approvals WHERE public_id = ?", approval) {
                row in (length: try row.read(Int.self), digest: try row.read([UInt8]?.self))
            }
        }
        if let end { #expect(end.length == rows.count && end.digest == last, sourceLocation: sourceLocation) }
        return rows.map(\.event)
    }

    // MARK: Rows

    @Test func everyEndIsChainedToItsBeginning() throws {
        let approved = try client.ask(agent, ["action_type": "a"])
        app.time.advance(by: .milliseconds(1234))
        _ = client.decide(approved, "approved", as: phone, number: approved.wrongNumber)
        _ = client.decide(approved, "approved", as: phone, number: approved.number)
        #expect(try verify(approved.id) == ["requested", "number_mismatch", "approved"])
        let rejected = try client.ask(agent, ["action_type": "b"])
        _ = client.decide(rejected, "rejected", as: phone)
        #expect(try verify(rejected.id) == ["requested", "rejected"])
        let guessed = try client.ask(agent, ["action_type": "c"])
        for _ in 0..<3 { _ = client.decide(guessed, "approved", as: phone, number: guessed.wrongNumber) }
        #expect(try verify(guessed.id) == ["requested", "number_mismatch", "number_mismatch", "rejected"])
        let cancelled = try client.ask(agent, ["action_type": "d"])
        for _ in 0..<2 { _ = client.send(try agent.cancel(cancelled.id)) }
        #expect(try verify(cancelled.id) == ["requested", "cancelled"])
        let late = try client.ask(agent, ["action_type": "e"])
        let waiting = try client.ask(agent, ["action_type": "f", "ttl_seconds": 1800])
        app.time.advance(by: .seconds(300))
        #expect(try app.operate { try $0.collect(.agentApprovals, loginHistory: .zero) } == 1)
        #expect(try app.operate { try $0.collect(.agentApprovals, loginHistory: .zero) } == 0)
        #expect(try verify(late.id) == ["requested", "expired"])
        #expect(client.send(.delete, "/api/v1/me/agents/\(agent.id)", token: phone.token).status == 204)
        #expect(try verify(waiting.id) == ["requested", "cancelled"])
    }

    /// What waits when its user goes ends first.
    @Test func nothingIsDeletedWithoutAnEnd() throws {
        let scene = try SwapScene(app)
        let other = try scene.identified()
        func swap(_ phone: Phone, _ options: JSONValue = [:]) throws {
            let answer = client.send(
                .post, "/api/v1/me/anonymous_swap",
                app.proof(other.subject).adding(["provider": "apple", "merge_options": options]), token: phone.token)
            try #require(answer.status == 200, "\(answer)")
        }
        let unselected = try client.ask(agent)
        let late = try client.ask(agent, ["action_type": "late", "ttl_seconds": 30])
        app.time.advance(by: .seconds(60))
        try swap(phone, ["agent_approvals": false])
        #expect(try verify(unselected.id) == ["requested", "cancelled"])
        #expect(try verify(late.id) == ["requested", "expired"])

        let phones = try [2, 3].map { try client.bootstrap($0) }
        let asked = try phones.map { phone in
            let agent = try client.agent(of: phone, in: app)
            return [try client.ask(agent), try client.ask(agent, ["title": .string("\(phone.userID)")])]
        }
        for phone in phones { try swap(phone) }
        #expect(try verify(asked[0][0].id) == ["requested"])
        #expect(try verify(asked[1][0].id) == ["requested", "cancelled"], "the duplicate")
        for approvals in asked { #expect(try verify(approvals[1].id) == ["requested"]) }

        let pruned = try client.bootstrap(4)
        let waiting = try client.ask(client.agent(of: pruned, in: app), ["ttl_seconds": 1800])
        try app.operate { transaction in
            let user = User.ID(rawValue: Int64(pruned.userID))
            _ = try transaction.pruneAnonymousUser(user, inactiveSince: app.time.now + .seconds(1))
        }
        #expect(try verify(waiting.id) == ["requested", "cancelled"])
    }

    /// More than one batch; none of their texts is read, which would be a thousand times as much.
    @Test func howeverManyWaitTheyAreCancelledWithoutTheirTexts() throws {
        _ = try client.ask(agent)
        try app.change(
            """
            INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash, title, body,
                                         sealed_request, expires_at)
            SELECT r.user_id, r.agent_id, CONCAT('aar_', LPAD(seq, 16, '0')), 'pending', SHA2(seq, 256), 'x',
                   REPEAT('x', 10000), REPEAT('x', 30000), ? + INTERVAL IF(seq % 2, 1, -1) MINUTE
            FROM agent_approvals r JOIN seq_1_to_1100
            """, app.time.now)
        let meter = try ReadMeter(app)
        let (answer, cost) = try meter.measure { [phone] in $0.send(.delete, "/api/v1/me", token: phone.token) }
        #expect(answer.status == 202, "\(answer)")
        #expect(cost.bytesSent < 1_000_000, "\(cost.bytesSent)")
        #expect(
            try app.column("SELECT CONCAT(status, ' ', COUNT(*)) FROM agent_approvals GROUP BY status ORDER BY 1")
                == ["cancelled 551", "expired 550"])
        #expect(
            try app.column("SELECT CONCAT(event, ' ', COUNT(*)) FROM agent_approval_history GROUP BY event ORDER BY 1")
                == ["cancelled 551", "expired 550", "requested 1"])
    }

    /// Whoever saw a request expire does not see it cancelled later.
    @Test func whatHasExpiredIsNotCancelled() throws {
        let late = try client.ask(agent)
        app.time.advance(by: .seconds(300))
        #expect(client.send(.delete, "/api/v1/me/agents/\(agent.id)", token: phone.token).status == 204)
        #expect(try verify(late.id) == ["requested", "expired"])
        let shown = client.send(.get, "/api/v1/me/agent_approvals/\(late.id)", token: phone.token)
        #expect(shown["status"] == "expired" && shown["decided_at"] == .null)
    }

    /// Those of `merganserctl dev seed` are like an agent's.
    @Test func aSeededRequestIsDecided() throws {
        let seed = DevelopmentSeed(
            user: User.ID(rawValue: Int64(phone.userID)), clientIDs: [], agentApprovals: 3, pushApprovals: 0)
        _ = try app.operate { try $0.seed(seed, serverKey: app.service.accounts.serverKey) }
        let listed = client.send(.get, "/api/v1/me/agent_approvals", token: phone.token)["agent_approvals"]?.array
        let requests = try #require(listed)
        #expect(requests.count == 3)
        for request in requests {
            let (id, title) = (try #require(request["id"]?.string), try #require(request["title"]?.string))
            let answer = client.send(
                .post, "/api/v1/me/agent_approvals/\(id)/decide",
                ["decision": "approved", "number_match": .string(String(title.suffix(6)))], token: phone.token)
            #expect(answer["status"] == "approved", "\(answer)")
            #expect(try verify(id) == ["requested", "approved"])
        }
    }

    @Test func nothingIsSeededForThoseWhoAreGone() throws {
        let other = try client.bootstrap(2)
        let seed = DevelopmentSeed(
            user: User.ID(rawValue: Int64(phone.userID)), clientIDs: [], agentApprovals: 1, pushApprovals: 1)
        try app.absorb(phone.userID, into: other.userID)
        #expect(throws: RefusedOperation.self) {
            try app.operate { try $0.seed(seed, serverKey: app.service.accounts.serverKey) }
        }
        try app.change("DELETE FROM identity_links")
        #expect(client.send(.delete, "/api/v1/me", token: phone.token).status == 202)
        #expect(throws: RefusedOperation.self) {
            try app.operate { try $0.seed(seed, serverKey: app.service.accounts.serverKey) }
        }
        #expect(try app.count("SELECT COUNT(*) FROM push_approval_requests") == 0)
    }

    /// Python's `hashlib` over `json.dumps(…, sort_keys=True, separators=(",", ":"))`, for a public id of the test's.
    @Test func theFirstDigestIsThatOfItsText() throws {
        let text =
            #"{"approval":"aar_ABCDEFGHabcdefgh","at":"2026-05-12T07:00:00.000Z","display_payload_hash":"#
            + #""7d89d4888b13a52f0153678ba47278e1ab5da99a5fbb12e6392963b48a510d09","event":"requested","previous":"#
            + #""0000000000000000000000000000000000000000000000000000000000000000","sequence":1}"#
        #expect(sha256(text.utf8).hexadecimal == "57677fa615d358ca6fbe08076b88defc648a2c469102f6654180ff64983db541")
        let approval = try client.ask(agent)
        let row = try #require(try rows(of: approval.id).first)
        #expect(row.hash == "7d89d4888b13a52f0153678ba47278e1ab5da99a5fbb12e6392963b48a510d09")
        #expect(row.digest == sha256(text.replacing("aar_ABCDEFGHabcdefgh", with: approval.id).utf8))
    }

    @Test func rowsAreNeverChangedOrDeleted() throws {
        _ = try client.ask(agent)
        let refused: [StaticString] = [
            "DELETE FROM agent_approval_history", "UPDATE agent_approval_history SET id = id + 1",
            "UPDATE agent_approval_history SET approval = 'x'", "UPDATE agent_approval_history SET sequence = 2",
            "UPDATE agent_approval_history SET event = 'x'", "UPDATE agent_approval_history SET at = NOW()",
            "UPDATE agent_approval_history SET display_payload_hash = 'x'",
            "UPDATE agent_approval_history SET previous_digest = digest",
            "UPDATE agent_approval_history SET digest = previous_digest",
            "UPDATE agent_approval_history SET user_id = NULL, event = 'x'",
            "REPLACE agent_approval_history SELECT * FROM agent_approval_history",
        ]
        try app.expectUnchanged {
            for sql in refused {
                #expect("\(sql)") {
                    try app.change(sql)
                } throws: {
                    ($0 as? MariaDBError)?.sqlState == "45000"
                }
            }
        }
    }

    @Test func itOutlivesItsUser() throws {
        let approval = try client.ask(agent)
        _ = client.decide(approval, "approved", as: phone, number: approval.number)
        try app.change("DELETE FROM users WHERE id = ?", phone.userID)
        #expect(try app.count("SELECT COUNT(*) FROM agent_approvals") == 0)
        #expect(try verify(approval.id) == ["requested", "approved"])
        #expect(try app.column("SELECT DISTINCT CONCAT(user_id) FROM agent_approval_history") == ["NULL"])
    }

    /// By the clock of the database, which nobody turns.
    @Test func afterSevenYearsItGoes() throws {
        let time = TestClock(Timestamp(seconds: 1_546_300_800))
        let scene = try ApprovalHistoryTests(time: time)
        let old = try scene.client.ask(scene.agent)
        _ = scene.client.decide(old, "rejected", as: scene.phone)
        func collect() throws -> Int {
            try scene.app.operate { try $0.collect(.agentApprovalHistory, loginHistory: .zero) }
        }
        time.advance(by: .seconds(7 * 365 * 86_400))
        #expect(try collect() == 0, "leap days, and a day of grace")
        time.advance(by: .seconds(3 * 86_400))
        #expect(try collect() == 2)
        #expect(try scene.app.count("SELECT COUNT(*) FROM agent_approvals") == 1, "another kind of garbage")
    }
}
