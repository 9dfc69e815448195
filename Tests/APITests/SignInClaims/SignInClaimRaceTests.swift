import AnalyticsJobs
import Database
import HTTP
import JSON
import TestSupport
import Testing

/// Sign-ins, swaps and merges beside late events, claims and each other (accounts Stage 5): afterwards every event reads under
/// exactly one user, the right one.
@Suite struct SignInClaimRaceTests {
    static let rounds = 20

    let app: TestApp
    let scene: AnalyticsScene
    let accounts: SwapScene

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        accounts = try SwapScene(app)
        try app.change("UPDATE projects SET accounts = TRUE")
    }

    private func ingest(_ user: String, _ message: String) -> RepeatableRequest {
        scene.ingest([scene.event(message, of: user), scene.event(message, of: user)])
    }

    /// A batch of several users, who are locked together.
    private func ingest(_ users: [String], _ message: String) -> RepeatableRequest {
        scene.ingest(users.map { scene.event(message, of: $0) })
    }

    private func session(_ subject: String, claiming id: String, key: String? = nil) -> RepeatableRequest {
        RepeatableRequest(
            method: .post, path: "/api/v1/auth/apple/session",
            body: app.proof(subject).adding(["anonymous_id": .string(id)]),
            headers: key.map { [("idempotency-key", $0)] } ?? [])
    }

    /// Each request begins at another moment of the first one's transaction in each round.
    private func race(
        _ count: Int, _ prepare: (_ round: Int) throws -> [RepeatableRequest],
        _ check: (_ round: Int, [Answer]) throws -> Void
    ) throws {
        let racers = Racers(app, count)
        for round in 0..<Self.rounds {
            let answers = try racers.race(
                try prepare(round), delays: [.microseconds(round * 150), .microseconds(round * 90)])
            #expect(answers.allSatisfy { $0.status < 500 }, "round \(round): \(answers)")
            try check(round, answers)
        }
        try scene.expectClean()
        try scene.compaction(grace: .zero).run(scene.database())
        try scene.expectClean()
        #expect(try scene.counters() == scene.countedEvents())
    }

    /// An app reports events of the account, the first in this project, while it signs in.
    @Test func theAccountAppearsMeanwhile() throws {
        let ada = try accounts.identified()
        _ = app.client().send(ingest("owl_anon_1", "m"))
        let appearing = """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at)
            SELECT RANDOM_BYTES(16), project_id, '\(ada.id)', FALSE, first_seen_at, last_seen_at
            FROM app_users WHERE user_id = 'owl_anon_1'
            """
        let answer = try accounts.send(session(ada.subject, claiming: "owl_anon_1"), whileHeld: appearing) { _ in }
        #expect(answer.status == 200 && answer["claims"]?.array?.first?["outcome"] == "claimed", "\(answer)")
        #expect(app.statistics.retries.value >= 1)
        #expect(try owners("m") == ["\(ada.id)"])
        try scene.expectClean()
    }

    /// The owners of what a round reported.
    private func owners(_ message: String) throws -> [String] {
        try app.column("SELECT DISTINCT user_id FROM events_resolved WHERE message = ? ORDER BY user_id", message)
    }

    @Test func aSignInBesideLateEvents() throws {
        try race(6) { round in
            let (id, message) = ("owl_anon_\(round)", "round \(round)")
            return [session("s\(round)", claiming: id), session("s\(round)", claiming: id)]
                + [ingest(id, message), ingest(id, message), ingest([id, "owl_anon_x\(round)", "other"], message)]
                + [scene.properties(.string(id), ["k": "v"])]
        } _: { round, answers in
            let user = try #require(answers[0]["user"]?["id"]?.integer)
            #expect(try owners("round \(round)") == ["\(user)", "other", "owl_anon_x\(round)"].sorted())
        }
    }

    /// A reinstalled app keeps its id, and two people sign in on its devices.
    @Test(arguments: ["latest", "refuse"]) func twoPeopleClaimOneID(conflict: String) throws {
        try app.change("UPDATE projects SET claim_conflict = ?", conflict)
        try race(4) { round in
            let id = "owl_anon_\(round)"
            return [
                session("a\(round)", claiming: id), session("b\(round)", claiming: id), ingest(id, "round \(round)"),
                ingest(id, "round \(round)"),
            ]
        } _: { round, answers in
            let users = answers.prefix(2).compactMap { $0["user"]?["id"]?.integer }.map(String.init)
            let outcomes = answers.prefix(2).compactMap { $0["claims"]?.array?.first?["outcome"]?.string }
            #expect(
                outcomes.sorted() == (conflict == "latest" ? ["claimed", "claimed"] : ["claimed", "claimed_by_other"]))
            let owners = try owners("round \(round)")
            #expect(Set(owners).isSubset(of: users))
            if conflict == "refuse" { #expect(owners == [outcomes[0] == "claimed" ? users[0] : users[1]]) }
        }
    }

    @Test func aMergeBesideAClaimAndLateEvents() throws {
        var survivors: [Member] = []
        try race(6) { round in
            let (survivor, absorbed) = (try accounts.member(), try accounts.member())
            survivors.append(survivor)
            let (id, message) = ("owl_anon_\(round)", "round \(round)")
            if round % 3 > 0 { _ = accounts.client.send(ingest("\(absorbed.id)", message)) }
            if round % 2 > 0 { _ = accounts.client.send(ingest("\(survivor.id)", message)) }
            return [
                accounts.mergeRequest(survivor, try accounts.mergeToken(of: absorbed.id)),
                scene.claim(.string(id), .string("\(absorbed.id)")), ingest("\(absorbed.id)", message),
                ingest(id, message), ingest([id, "\(survivor.id)", "\(absorbed.id)"], message),
                ingest("\(absorbed.id)", message),
            ]
        } _: { round, answers in
            #expect(answers.allSatisfy { $0.status == 200 }, "round \(round): \(answers)")
            let found = try owners("round \(round)")
            #expect(found == ["\(survivors[round].id)"])
        }
    }

    @Test func aSwapBesideLateEvents() throws {
        var owners: [IdentifiedUser] = []
        try race(5) { round in
            let (phone, owner) = (try accounts.anonymous(), try accounts.identified())
            owners.append(owner)
            let (id, message) = ("owl_anon_\(round)", "round \(round)")
            return [
                try accounts.swapRequest(phone, into: owner, [("anonymous_id", .string(id))]),
                ingest("\(phone.userID)", message), ingest(id, message),
                ingest([id, "\(phone.userID)", "\(owner.id)"], message), scene.properties(.string(id), ["k": "v"]),
            ]
        } _: { round, answers in
            #expect(answers.allSatisfy { $0.status == 200 }, "round \(round): \(answers)")
            let found = try self.owners("round \(round)")
            #expect(found == ["\(owners[round].id)"])
        }
    }

    @Test func aChainOfMergesBesideLateEvents() throws {
        var cast: [Member] = []
        try race(5) { round in
            cast = [try accounts.member(), try accounts.member(), try accounts.member()].shuffled()
            let message = "round \(round)"
            for member in cast { _ = accounts.client.send(ingest("\(member.id)", message)) }
            return [
                accounts.mergeRequest(cast[1], try accounts.mergeToken(of: cast[0].id)),
                accounts.mergeRequest(cast[2], try accounts.mergeToken(of: cast[1].id)),
                ingest(cast.map { "\($0.id)" }, message), ingest("\(cast[0].id)", message),
                ingest("\(cast[1].id)", message),
            ]
        } _: { round, answers in
            #expect(answers[1].status == 200)
            let expected = answers[0].status == 200 ? [cast[2].id] : [cast[0].id, cast[2].id]
            let found = try owners("round \(round)")
            #expect(found == expected.map(String.init).sorted())
        }
    }
}
