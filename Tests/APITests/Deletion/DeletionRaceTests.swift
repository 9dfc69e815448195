import Accounts
import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Deletions against everything else that touches the same account: whoever wins, the tables are as if the two had come one
/// after the other.
@Suite struct DeletionRaceTests {
    let app: TestApp
    let scene: SwapScene
    let rp: RelyingParty

    private static let gone = refusal(401, "invalid_token")
    private static let deleted = "account_deleted"
    private static let rounds = 30

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
        rp = try scene.relyingParty()
    }

    /// In each round the second request starts a little later relative to the first, so that they meet at all points.
    private func race(
        _ prepare: () throws -> [RepeatableRequest], _ check: ([Answer], _ round: Int) throws -> Void
    ) throws {
        let racers = Racers(app, 2)
        for round in 0..<Self.rounds {
            let offset = Duration.microseconds(300 * (round - Self.rounds / 2))
            let answers = try racers.race(
                prepare(), delays: [max(.zero, .zero - offset), max(.zero, offset)])
            #expect(answers.allSatisfy { $0.status < 500 }, "round \(round): \(answers)")
            try check(answers, round)
        }
        #expect(app.statistics.exhaustions.value == 0)
    }

    private func furnished() throws -> Member {
        let member = try scene.member()
        try scene.furnish(member.id, shared: rp)
        return member
    }

    @Test func aSwapIntoTheOneThatIsDeleted() throws {
        var (user, anonymous) = (0, 0)
        try race {
            let (member, phone) = (try furnished(), try scene.anonymous())
            try scene.grant(phone.userID, try scene.relyingParty())
            (user, anonymous) = (member.id, phone.userID)
            let b = IdentifiedUser(id: member.id, subject: member.subject)
            return [.deletion(by: member.token), try scene.swapRequest(phone, into: b, by: .ticket)]
        } _: { answers, round in
            #expect(answers[0].status == 202)
            #expect(answers[1].status == 200 || answers[1].error == Self.deleted, "round \(round): \(answers[1])")
            // What was swapped in ended, too; a refused swap left its account alone.
            try app.expectEnded(user, "round \(round)")
            let isThere = try app.count("SELECT COUNT(*) FROM users WHERE id = ? AND deleted_at IS NULL", anonymous)
            #expect(isThere == (answers[1].status == 200 ? 0 : 1), "round \(round)")
        }
    }

    @Test func aSwapOfTheOneThatIsDeleted() throws {
        var (a, b) = (0, 0)
        try race {
            let (phone, other) = (try scene.anonymous(), try scene.identified())
            try scene.grant(phone.userID, rp)
            (a, b) = (phone.userID, other.id)
            return [.deletion(by: phone.token), try scene.swapRequest(phone, into: other)]
        } _: { answers, round in
            let isDeleted = answers[0].status == 202
            #expect(answers[isDeleted ? 1 : 0].description == Self.gone, "round \(round): \(answers)")
            #expect(answers[1].status == (isDeleted ? 401 : 200), "round \(round)")
            if isDeleted { try app.expectEnded(a, "round \(round)") }
            #expect(
                try app.count("SELECT COUNT(*) FROM grants WHERE user_id = ? AND revoked_at IS NULL", b)
                    == (isDeleted ? 0 : 1), "round \(round)")
        }
    }

    @Test func aLinkByTheOneThatIsDeleted() throws {
        var user = 0
        try race {
            let member = try furnished()
            user = member.id
            let link = RepeatableRequest(
                method: .post, path: "/api/v1/me/connected_identities",
                body: app.proof("google-\(member.id)", of: .google).adding(["provider": "google"]),
                token: member.token)
            return [.deletion(by: member.token), link]
        } _: { answers, round in
            #expect(answers[0].status == 202)
            let owners = try scene.ids("SELECT user_id FROM identities WHERE sub = ?", "google-\(user)")
            #expect(owners == (answers[1].status == 200 ? [user] : []), "round \(round)")
            if answers[1].status != 200 { #expect(answers[1].description == Self.gone) }
            try app.expectEnded(user, "round \(round)")
        }
    }

    @Test func aMergeOfTheOneThatIsDeleted() throws {
        var (target, survivor) = (0, 0)
        try race {
            let (member, other) = (try furnished(), try furnished())
            (target, survivor) = (member.id, other.id)
            return [
                .deletion(by: member.token), scene.mergeRequest(other, try scene.mergeToken(of: member.id)),
            ]
        } _: { answers, round in
            let isMerged = answers[1].status == 200
            #expect(answers[0].status == (isMerged ? 401 : 202), "round \(round): \(answers)")
            if !isMerged { #expect(answers[1].status == 401) }
            #expect(
                try scene.ids("SELECT primary_user_id FROM identity_links WHERE linked_user_id = ?", target)
                    == (isMerged ? [survivor] : []))
            #expect(
                try app.count("SELECT COUNT(*) FROM users WHERE id = ? AND deleted_at IS NOT NULL", target)
                    == (isMerged ? 0 : 1))
            try app.expectEnded(isMerged ? 0 : target, "round \(round)")
        }
    }

    @Test func aMergeByTheOneThatIsDeleted() throws {
        var (survivor, target) = (0, 0)
        try race {
            let (member, other) = (try furnished(), try furnished())
            (survivor, target) = (member.id, other.id)
            return [
                .deletion(by: member.token), scene.mergeRequest(member, try scene.mergeToken(of: other.id)),
            ]
        } _: { answers, round in
            #expect(answers[0].status == 202)
            try app.expectEnded(survivor, "round \(round)")
            let isMerged = answers[1].status == 200
            if !isMerged { #expect(answers[1].description == Self.gone, "round \(round)") }
            #expect(
                try app.count("SELECT COUNT(*) FROM grants WHERE user_id = ? AND revoked_at IS NULL", target)
                    == (isMerged ? 0 : 1), "round \(round)")
        }
    }

    @Test func aSignInAsTheOneThatIsDeleted() throws {
        var user = 0
        try race {
            let member = try furnished()
            user = member.id
            let session = RepeatableRequest(
                method: .post, path: "/api/v1/auth/apple/session",
                body: app.proof(member.subject).adding([
                    "device_uuid": .string(uuid(scene.next())), "platform": "ios",
                ]))
            return [.deletion(by: member.token), session]
        } _: { answers, round in
            #expect(answers[0].status == 202)
            #expect(answers[1].status == 200 || answers[1].error == Self.deleted, "round \(round): \(answers[1])")
            try app.expectEnded(user, "round \(round)")
        }
    }

    @Test func twoDeletions() throws {
        var user = 0
        try race {
            let member = try furnished()
            user = member.id
            return [.deletion(by: member.token), .deletion(by: member.token)]
        } _: { answers, round in
            #expect(answers.map(\.status).sorted() == [202, 401], "round \(round)")
            try app.expectEnded(user, "round \(round)")
            #expect(
                try app.count("SELECT COUNT(*) FROM audit_log WHERE user_id = ? AND action = 'user.deleted'", user)
                    == 1)
        }
    }

    // MARK: Tokens

    enum TokenRequest: CaseIterable, Sendable {
        case refresh, code, authorize
    }

    @Test(arguments: TokenRequest.allCases) func tokensOfTheOneThatIsDeleted(_ kind: TokenRequest) throws {
        let oauth = try OAuthScene(app)
        let shop = try oauth.register()
        let (people, rounds) = (try (0..<Self.rounds).map { try oauth.person("token \($0)", email: nil) }, Self.rounds)
        let forms = try people.map { person in
            switch kind {
            case .refresh:
                oauth.form("/oauth/token", oauth.refreshForm(try oauth.signIn(shop, as: person).refresh), as: shop)
            case .code, .authorize:
                oauth.form("/oauth/token", oauth.codeForm(try oauth.code(shop, as: person), of: shop), as: shop)
            }
        }
        let members = JSONValue.object(
            JSONObject(oauth.parameters(shop).map { ($0.0, JSONValue.string($0.1)) }))
        let answers = app.race(2, rounds: rounds) { client, thread, round in
            if thread == 0 { return client.send(.deletion(by: people[round].token)) }
            return kind == .authorize
                ? client.send(.post, "/api/v1/oauth/authorize", members, token: people[round].token)
                : client.send(forms[round])
        }
        for (person, answers) in zip(people, answers) {
            #expect(answers[0].status == 202)
            #expect([200, 400, 401].contains(answers[1].status), "\(answers[1])")
            try app.expectEnded(person.userID)
            if kind != .authorize, answers[1].status == 200 {
                let tokens = try Tokens(answers[1])
                #expect(oauth.userInfo(tokens.access).status == 401)
                #expect(oauth.refresh(tokens.refresh, by: shop).error == "invalid_grant")
            }
        }
        #expect(app.statistics.exhaustions.value == 0)
    }

    // MARK: The purge

    /// The clocks of two machines differ: for one of them the grace is over, for the other it is not. The account is whole or
    /// gone.
    @Test func aRestorationBesideThePurge() throws {
        let (early, late) = (app.time.now, app.time.now + .seconds(60))
        let users = try (0..<Self.rounds).map { _ in
            let member = try furnished()
            try #require(app.client().send(.deletion(by: member.token)).status == 202)
            // Nobody absorbed: those would be purged by themselves.
            try app.change("DELETE FROM identity_links WHERE primary_user_id = ?", member.id)
            try app.change("UPDATE users SET purge_at = ? WHERE id = ?", early + .seconds(30), member.id)
            return member.id
        }
        let results = app.race(2, rounds: Self.rounds) { [app] _, thread, round in
            let id = User.ID(rawValue: Int64(users[round]))
            let clock = Clock { thread == 0 ? early : late }
            do {
                return try Accounts.write(
                    Database(app.database.options), at: clock, from: Origin(requestID: "", address: "")
                ) { transaction in
                    if thread == 1 { return try transaction.purgeNext(of: id) != nil }
                    try transaction.restoreUser(id, by: .tool)
                    return true
                }
            } catch {
                return false
            }
        }
        for (user, done) in zip(users, results) {
            #expect(done.count { $0 } == 1, "\(user): \(done)")
            let left = try app.count("SELECT COUNT(*) FROM users WHERE id = ? AND deleted_at IS NULL", user)
            #expect(left == (done[0] ? 1 : 0))
            if done[1] {
                let mentions = try scene.mentions(of: [user]).filter { $0.value > 0 }
                #expect(mentions == [:])
            } else {
                #expect(try app.count("SELECT COUNT(*) FROM identities WHERE user_id = ?", user) == 1)
            }
        }
    }

    @Test func twoPurges() throws {
        let (survivor, absorbed) = (try furnished(), try furnished())
        try scene.merge(absorbed.id, into: survivor)
        try #require(app.client().send(.deletion(by: survivor.token)).status == 202)
        app.time.advance(by: .seconds(31 * 86_400))
        let family = try scene.ids(
            "SELECT linked_user_id FROM identity_links WHERE primary_user_id = ?", survivor.id)
        let erased = app.atOnce(4) { [app] _, _ in (try? app.purge()) ?? [-1] }
        #expect(erased.joined().sorted() == (family + [survivor.id]).sorted())
        #expect(try app.count("SELECT COUNT(*) FROM webhook_outbox WHERE event_type = 'user.purged'") == 1)
    }
}
