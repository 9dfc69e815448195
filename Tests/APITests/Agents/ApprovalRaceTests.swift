import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// Agents and people at once, on real threads with a connection each: each request is decided once, whoever is faster.
@Suite struct ApprovalRaceTests {
    private static let rounds = 20

    let app: TestApp
    let client: Client
    let phone: Phone

    init() throws {
        app = try TestApp()
        try app.addSigningKey()
        client = app.client()
        phone = try client.bootstrap()
    }

    private func agents() throws -> [TestAgent] {
        try (0..<Self.rounds).map { number in
            try client.agent(of: phone, in: app, signed: number % 2 == 0)
        }
    }

    /// Whether every history has one beginning and at most one end.
    private func expectSoundHistories(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let odd = try app.count(
            """
            SELECT COUNT(*) FROM agent_approvals r WHERE
                (SELECT COUNT(*) FROM agent_approval_history h WHERE h.approval = r.public_id AND h.event = 'requested') <> 1
                OR (SELECT COUNT(*) FROM agent_approval_history h WHERE h.approval = r.public_id
                    AND h.event NOT IN ('requested', 'number_mismatch')) <> (r.status <> 'pending')
                OR (SELECT COUNT(*) FROM agent_approval_history h WHERE h.approval = r.public_id) <> r.history_length
            """)
        #expect(odd == 0, sourceLocation: sourceLocation)
        #expect(app.statistics.exhaustions.value == 0, sourceLocation: sourceLocation)
    }

    @Test func oneKeyAtOnceMakesOneRequest() throws {
        let agents = try agents()
        let rounds = app.race(8, rounds: Self.rounds) { client, _, round in
            try? client.send(agents[round].asking(idempotencyKey: "k"))
        }
        for answers in rounds.map({ $0.compactMap(\.self) }) {
            #expect(answers.map(\.status).sorted() == [200, 200, 200, 200, 200, 200, 200, 201], "\(answers)")
            #expect(Set(answers.map { $0["auth_req_id"]?.string }).count == 1)
            #expect(Set(answers.map { $0["number_match"]?.string }).count == 1)
        }
        try expectSoundHistories()
    }

    @Test func oneKeyWithTwoBodiesAtOnceTakesOne() throws {
        let agents = try agents()
        let rounds = app.race(8, rounds: Self.rounds) { client, thread, round in
            try? client.send(agents[round].asking(["title": .string("\(thread % 2)")], idempotencyKey: "k"))
        }
        for answers in rounds.map({ $0.compactMap(\.self) }) {
            #expect(answers.map(\.status).sorted() == [200, 200, 200, 201, 409, 409, 409, 409], "\(answers)")
        }
    }

    @Test func theSameUnderManyKeysAtOnceIsOneRequest() throws {
        let agents = try agents()
        let rounds = app.race(8, rounds: Self.rounds) { client, thread, round in
            try? client.send(agents[round].asking(idempotencyKey: "k\(thread)"))
        }
        for answers in rounds.map({ $0.compactMap(\.self) }) {
            #expect(answers.map(\.status).sorted() == [200, 200, 200, 200, 200, 200, 200, 201], "\(answers)")
            #expect(Set(answers.map { $0["auth_req_id"]?.string }).count == 1)
        }
        #expect(try app.count("SELECT COUNT(*) FROM agent_approvals") == Self.rounds)
        #expect(try app.count("SELECT COUNT(*) FROM agent_approval_keys") == 8 * Self.rounds)
    }

    @Test func noMoreThanTenWait() throws {
        let agent = try client.agent(of: phone, in: app)
        let answers = app.race(6, rounds: 4) { client, thread, round in
            try? client.send(agent.asking(["title": .string("\(thread) \(round)")]))
        }.joined().compactMap(\.self)
        #expect(answers.count { $0.status == 201 } == 10 && answers.count { $0.error == "too_many_pending" } == 14)
    }

    @Test func noMoreThanFiftyWaitForAUser() throws {
        let agents = try (0..<8).map { _ in try client.agent(of: phone, in: app) }
        let answers = app.race(8, rounds: 8) { client, thread, round in
            try? client.send(agents[thread].asking(["title": .string("\(round)")]))
        }.joined().compactMap(\.self)
        #expect(answers.count { $0.status == 201 } == 50 && answers.count { $0.error == "too_many_pending" } == 14)
    }

    @Test func ofTwoDecisionsOneCounts() throws {
        let approvals = try agents().map { try client.ask($0) }
        let rounds = app.race(4, rounds: Self.rounds) { [phone] client, thread, round in
            client.decide(
                approvals[round], thread % 2 == 0 ? "approved" : "rejected", as: phone, number: approvals[round].number)
        }
        for (answers, approval) in zip(rounds, approvals) {
            #expect(answers.map(\.status).sorted() == [200, 409, 409, 409], "\(answers)")
            #expect(Set(answers.compactMap(\.error)) == ["already_decided"])
            let decided = try #require(answers.first { $0.status == 200 })
            let seen = client.send(.get, "/api/v1/me/agent_approvals/\(approval.id)", token: phone.token)
            #expect(seen["status"] == decided["status"])
        }
        try expectSoundHistories()
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE action = 'approval.decided'") == Self.rounds)
    }

    @Test func guessesAtOnceAreThree() throws {
        let approvals = try agents().map { try client.ask($0) }
        let rounds = app.race(5, rounds: Self.rounds) { [phone] client, _, round in
            client.decide(approvals[round], "approved", as: phone, number: approvals[round].wrongNumber)
        }
        for answers in rounds {
            #expect(answers.map(\.status).sorted() == [409, 409, 422, 422, 422], "\(answers)")
        }
        try expectSoundHistories()
    }

    @Test func aDecisionMeetsCancellationAndPolls() throws {
        let agents = try agents()
        let approvals = try agents.map { try client.ask($0) }
        let rounds = app.race(4, rounds: Self.rounds) { [phone] client, thread, round -> Answer? in
            switch thread {
            case 0: client.decide(approvals[round], "rejected", as: phone)
            case 1: try? client.send(agents[round].cancel(approvals[round].id))
            default: try? client.send(agents[round].poll(approvals[round].id))
            }
        }
        for answers in rounds.map({ $0.compactMap(\.self) }) {
            #expect(answers[..<2].map(\.status).sorted() == [200, 409], "\(answers)")
            #expect(answers[2...].map(\.status).sorted() == [200, 429], "\(answers)")
        }
        try expectSoundHistories()
    }

    /// By a clock that has passed the end for one of two instances, which share the database.
    @Test func aDecisionMeetsExpiry() throws {
        let approvals = try agents().enumerated().map { round, agent in
            try client.ask(agent, ["ttl_seconds": .integer(Int64(30 * (round + 1)))])
        }
        let ahead = try TestApp(database: app.database, time: TestClock(app.time.now))
        let rounds = app.race(2, rounds: Self.rounds) { [phone] client, thread, round -> Answer? in
            if thread == 0 { return client.decide(approvals[round], "rejected", as: phone) }
            ahead.time.advance(by: .seconds(30))
            #expect(throws: Never.self) {
                try ahead.operate { _ = try $0.collect(.agentApprovals, loginHistory: .zero) }
            }
            return nil
        }
        for answers in rounds {
            let answer = try #require(answers[0])
            #expect(answer.status == 200 || "\(answer)" == refusal(409, "approval_expired"), "\(answer)")
        }
        try expectSoundHistories()
        #expect(try app.count("SELECT COUNT(*) FROM agent_approvals WHERE status = 'pending'") == 0)
    }

    @Test func aDecisionMeetsTheEndOfTheAgent() throws {
        let agents = try agents()
        let approvals = try agents.map { try client.ask($0) }
        let rounds = app.race(3, rounds: Self.rounds) { [phone] client, thread, round -> Answer? in
            switch thread {
            case 0: client.decide(approvals[round], "approved", as: phone, number: approvals[round].number)
            case 1: client.send(.delete, "/api/v1/me/agents/\(agents[round].id)", token: phone.token)
            default: try? client.send(agents[round].asking(["title": "another"]))
            }
        }
        for answers in rounds.map({ $0.compactMap(\.self) }) {
            #expect([200, 409].contains(answers[0].status) && answers[1].status == 204, "\(answers)")
            #expect([201, 401].contains(answers[2].status), "\(answers)")
        }
        try expectSoundHistories()
        #expect(try app.count("SELECT COUNT(*) FROM agent_approvals WHERE status = 'pending'") == 0)
    }

    /// A request is made and decided as one user's, whoever that is by then.
    @Test func aSwapMeetsItsAgents() throws {
        var scenes: [(phone: Phone, owner: Phone, agent: TestAgent, approval: PendingApproval)] = []
        for round in 0..<Self.rounds {
            let phone = try client.bootstrap(100 + round)
            let owner = try client.signIn(app.proof("owner \(round)"), on: 200 + round)
            let agent = try client.agent(of: phone, in: app, signed: true)
            scenes.append((phone, owner, agent, try client.ask(agent)))
        }
        let rounds = app.race(4, rounds: Self.rounds) { [app, scenes] client, thread, round -> Answer? in
            let (phone, owner, agent, approval) = scenes[round]
            switch thread {
            case 0:
                return client.send(
                    .post, "/api/v1/me/anonymous_swap",
                    app.proof("owner \(round)").adding(["provider": "apple"]), token: phone.token)
            case 1: return try? client.send(agent.asking(["title": "another"]))
            case 2: return try? client.send(agent.poll(approval.id))
            default: return client.decide(approval, "approved", as: owner, number: approval.number)
            }
        }
        for (answers, scene) in zip(rounds, scenes) {
            let answers = answers.compactMap(\.self)
            #expect(answers[0].status == 200 && answers[1].status == 201 && answers[2].status == 200, "\(answers)")
            #expect([200, 404].contains(answers[3].status), "\(answers)")
            let owners = try app.column(
                """
                SELECT CONCAT(user_id) FROM agent_approvals WHERE public_id = ?
                UNION SELECT CONCAT(h.user_id) FROM agent_approval_history h JOIN agent_approvals r
                    ON r.public_id = h.approval JOIN agents a ON a.id = r.agent_id WHERE a.public_id = ?
                """, scene.approval.id, scene.agent.id)
            #expect(owners == ["\(scene.owner.userID)"])
        }
        #expect(app.statistics.exhaustions.value == 0)
    }
}
