import Database
import HTTP
import IdentityTokens
import JOSE
import JSON
import Synchronization
import TestSupport
import Testing
import Threads
import Time

@testable import Accounts

/// Undos against each other and against everything else that touches the same accounts: whoever wins, the tables are as if the
/// two had come one after the other.
@Suite struct UndoRaceTests {
    private static let rounds = 20

    let app: TestApp
    let scene: SwapScene
    let rp: RelyingParty

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
        rp = try scene.relyingParty()
    }

    /// A merge that an undo meets, made after `invariants`.
    private struct Round {
        let absorbed: Member
        let survivor: Member
        /// A phone of the absorbed account.
        let phone: (id: Int, uuid: String, token: String, secret: String)
        let merge: MergeID
        let invariants: MergeInvariants
    }

    private func furnished() throws -> Member {
        let member = try scene.member()
        try scene.furnish(member.id, shared: rp)
        // Its earlier merge is earlier by the test's clock, too.
        let now = app.time.now
        try app.change("UPDATE identity_links SET created_at = ? WHERE created_at > ?", now - .seconds(60), now)
        return member
    }

    private func links() throws -> Int { try app.count("SELECT COUNT(*) FROM merge_tokens WHERE used_at IS NOT NULL") }

    /// In each round the others start a little later relative to the undo, so that they meet at all points.
    ///
    /// - Parameters:
    ///   - prepare: makes the other requests of a round.
    ///   - check: gets what the undo said, and the answers.
    private func race(
        undos: Int = 1, _ prepare: (Round) throws -> [RepeatableRequest],
        _ check: (Round, _ undo: [String], [Answer], Comment) throws -> Void
    ) throws {
        var undone = 0
        for number in 0..<Self.rounds {
            let (absorbed, survivor) = (try furnished(), try furnished())
            let phone = try scene.phone(of: absorbed.id)
            let invariants = try MergeInvariants(scene)
            let answer = try scene.merge(absorbed.id, into: survivor)
            let round = Round(
                absorbed: absorbed, survivor: survivor, phone: phone, merge: try answer.merge(), invariants: invariants)
            app.time.advance(by: .seconds(1))
            let requests = try prepare(round)
            let offset = Duration.microseconds(500 * (number - Self.rounds / 2))
            let outcomes = Mutex<[String]>([])
            let merge = round.merge
            let answers = app.atOnce(undos + requests.count) { [app] client, thread -> Answer? in
                let start = ContinuousClock.now + max(.zero, thread < undos ? .zero - offset : offset)
                while ContinuousClock.now < start {}
                if thread >= undos { return client.send(requests[thread - undos]) }
                let outcome = app.undoOutcome(merge, ofNode: thread)
                outcomes.withLock { $0.append(outcome) }
                return nil
            }.compactMap(\.self)
            #expect(answers.allSatisfy { $0.status < 500 }, "round \(number): \(answers)")
            let undos = outcomes.withLock { $0.sorted() }
            if undos.contains("undone") { undone += 1 }
            try check(round, undos, answers, "round \(number)")
        }
        #expect(undone > 0)
        // All take their locks in one order, so that nobody is even rolled back for it.
        #expect(app.database.isOnCluster || app.statistics.deadlocks.value == 0)
        #expect(app.statistics.exhaustions.value == 0)
        #expect(app.log.lines.filter { $0.hasPrefix("warning") || $0.hasPrefix("error") } == [])
    }

    private func expectOwner(
        of device: Int, _ user: Int, _ comment: Comment, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let owners = try scene.ids("SELECT user_id FROM devices WHERE id = ?", device)
        #expect(owners == [user], comment, sourceLocation: sourceLocation)
    }

    @Test func undosBesideEachOther() throws {
        var done = 0
        try race(undos: 3) { _ in
            []
        } _: { round, undos, _, comment in
            #expect(undos == ["already_undone", "already_undone", "undone"], comment)
            done += 1
            try round.invariants.check(links: try links(), undone: done, comment)
        }
    }

    @Test func aStartOfItsPhone() throws {
        var done = 0
        try race { round in
            [
                RepeatableRequest(
                    method: .post, path: "/api/v1/devices",
                    body: [
                        "device_uuid": .string(round.phone.uuid), "platform": "ios",
                        "device_secret": .string(round.phone.secret),
                    ])
            ]
        } _: { round, undos, answers, comment in
            #expect(undos == ["undone"], comment)
            #expect(answers[0].status == 200, comment)
            done += 1
            try round.invariants.check(links: try links(), undone: done, comment)
            let who = scene.client.send(.get, "/api/v1/me", token: answers[0]["access_token"]?.string)
            let isBefore = answers[0]["user"]?["id"]?.integer == round.survivor.id
            #expect(who.status == (isBefore ? 401 : 200), comment)
            if !isBefore { #expect(who["user"]?["id"]?.integer == round.absorbed.id, comment) }
            try expectOwner(of: round.phone.id, round.absorbed.id, comment)
        }
    }

    @Test func aMergeOfTheSurvivor() throws {
        var done = 0
        var third: Member?
        try race { round in
            let other = try scene.member()
            third = other
            return [scene.mergeRequest(other, try scene.mergeToken(of: round.survivor.id))]
        } _: { round, undos, answers, comment in
            #expect(answers[0].status == 200, comment)
            let isUndone = undos == ["undone"]
            #expect(isUndone || undos == ["later_merge"], "\(comment): \(undos)")
            done += isUndone ? 1 : 0
            let last = try #require(third)
            try expectOwner(of: round.phone.id, isUndone ? round.absorbed.id : last.id, comment)
            let left = try scene.ids(
                "SELECT COUNT(*) FROM identity_links WHERE linked_user_id = ?", round.absorbed.id)
            #expect(left == [isUndone ? 0 : 1], comment)
        }
    }

    @Test func aMergeIntoTheSurvivor() throws {
        var (done, other) = (0, 0)
        try race { round in
            let target = try scene.member()
            other = target.id
            return [scene.mergeRequest(round.survivor, try scene.mergeToken(of: target.id))]
        } _: { round, undos, answers, comment in
            #expect(answers[0].status == 200, comment)
            let isUndone = undos == ["undone"]
            #expect(isUndone || undos == ["later_merge"], "\(comment): \(undos)")
            done += isUndone ? 1 : 0
            try expectOwner(of: round.phone.id, isUndone ? round.absorbed.id : round.survivor.id, comment)
            let leads = try scene.ids("SELECT primary_user_id FROM identity_links WHERE linked_user_id = ?", other)
            #expect(leads == [round.survivor.id], comment)
        }
    }

    @Test func aSwapIntoTheSurvivor() throws {
        var anonymous: Phone?
        try race { round in
            let phone = try scene.anonymous()
            anonymous = phone
            let target = IdentifiedUser(id: round.survivor.id, subject: round.survivor.subject)
            return [try scene.swapRequest(phone, into: target, by: .ticket)]
        } _: { round, undos, answers, comment in
            #expect(answers[0].status == 200, comment)
            #expect(undos == ["undone"] || undos == ["later_merge"], "\(comment): \(undos)")
            let swapped = try #require(anonymous)
            try expectOwner(of: swapped.deviceID, round.survivor.id, comment)
            try expectOwner(
                of: round.phone.id, undos == ["undone"] ? round.absorbed.id : round.survivor.id, comment)
        }
    }

    /// By the identity that goes back.
    @Test func aSwapByItsIdentity() throws {
        var anonymous: Phone?
        try race { round in
            let phone = try scene.anonymous()
            anonymous = phone
            let target = IdentifiedUser(id: round.absorbed.id, subject: round.absorbed.subject)
            return [try scene.swapRequest(phone, into: target, by: .ticket)]
        } _: { round, undos, answers, comment in
            #expect(answers[0].status == 200, comment)
            let isUndone = undos == ["undone"]
            #expect(isUndone || undos == ["later_merge"], "\(comment): \(undos)")
            let swapped = try #require(anonymous)
            let expected = isUndone ? round.absorbed.id : round.survivor.id
            try expectOwner(of: swapped.deviceID, expected, comment)
        }
    }

    @Test func aDeletionOfTheSurvivor() throws {
        try race { round in
            [.deletion(by: round.survivor.token)]
        } _: { round, undos, answers, comment in
            #expect(answers[0].status == 202, comment)
            #expect(undos == ["undone"] || undos == ["account_deleted"], "\(comment): \(undos)")
            try app.expectEnded(round.survivor.id, comment)
            let isLive = try app.count(
                "SELECT COUNT(*) FROM users WHERE id = ? AND deleted_at IS NULL", round.absorbed.id)
            #expect(undos != ["undone"] || isLive == 1, comment)
            if undos == ["undone"] { try expectOwner(of: round.phone.id, round.absorbed.id, comment) }
        }
    }

    /// What is added stays with the survivor, whoever comes first.
    @Test func aLinkByTheSurvivor() throws {
        var done = 0
        try race { round in
            [
                RepeatableRequest(
                    method: .post, path: "/api/v1/me/connected_identities",
                    body: app.proof("google-\(round.survivor.id)", of: .google).adding(["provider": "google"]),
                    token: round.survivor.token)
            ]
        } _: { round, undos, answers, comment in
            #expect(undos == ["undone"], comment)
            #expect(answers[0].status == 200, comment)
            done += 1
            try round.invariants.check(links: try links(), undone: done, comment)
            let owners = try scene.ids("SELECT user_id FROM identities WHERE sub = ?", "google-\(round.survivor.id)")
            #expect(owners == [round.survivor.id], comment)
        }
    }

    @Test func aDisconnectionByTheSurvivor() throws {
        try race { round in
            [
                RepeatableRequest(
                    method: .delete, path: "/api/v1/me/connected_apps/\(rp.clientID)", token: round.survivor.token)
            ]
        } _: { round, undos, answers, comment in
            #expect(answers[0].status < 300, comment)
            let isUndone = undos == ["undone"]
            // The disconnection ended the grants of both, which the undo then found changed; or only the survivor's.
            #expect(isUndone || undos.first?.hasPrefix("undoConflict") == true, "\(comment): \(undos)")
            let live = try app.count(
                "SELECT COUNT(*) FROM grants WHERE application_id = ? AND sub = ? AND revoked_at IS NULL", rp.id,
                "\(round.absorbed.id)")
            #expect(live == (isUndone ? 1 : 0), comment)
        }
    }

    // MARK: Relying parties

    /// A code that somebody got as the survivor opens nothing of the absorbed account.
    @Test func anAuthorizeAndARefresh() throws {
        let oauth = try OAuthScene(app)
        let club = try oauth.register("Club")
        for number in 0..<Self.rounds {
            let ada = try oauth.person("ada\(number)", email: nil)
            let bea = try oauth.person("bea\(number)", email: nil)
            let tokens = try oauth.signIn(club, as: ada)
            app.time.advance(by: .seconds(1))
            let merge = try scene.client.send(
                scene.mergeRequest(
                    Member(id: bea.userID, subject: "", token: bea.token), try scene.mergeToken(of: ada.userID))
            ).merge()
            app.time.advance(by: .seconds(1))
            let authorize = RepeatableRequest(
                method: .post, path: "/api/v1/oauth/authorize",
                body: .object(JSONObject(oauth.parameters(club).map { ($0.0, JSONValue.string($0.1)) })),
                token: bea.token)
            let refresh = oauth.form("/oauth/token", oauth.refreshForm(tokens.refresh), as: club)
            let offset = Duration.microseconds(500 * (number - Self.rounds / 2))
            let answers = app.atOnce(3) { [app] client, thread -> Answer? in
                let start = ContinuousClock.now + max(.zero, thread == 0 ? .zero - offset : offset)
                while ContinuousClock.now < start {}
                switch thread {
                case 0:
                    let outcome = app.undoOutcome(merge, ofNode: thread)
                    #expect(outcome == "undone", "round \(number)")
                    return nil
                case 1: return client.send(authorize)
                default: return client.send(refresh)
                }
            }
            let comment: Comment = "round \(number)"
            let code = try #require(answers[1]?["code"]?.string, comment)
            let exchanged = oauth.exchange(code, by: club)
            if exchanged.status == 200 {
                #expect(try Tokens(exchanged).idClaims["sub"] == .string("\(bea.userID)"), comment)
            } else {
                #expect(exchanged.error == "invalid_grant", comment)
            }
            let refreshed = try Tokens(try #require(answers[2], comment))
            let next = try Tokens(oauth.refresh(refreshed.refresh, by: club))
            #expect(try next.idClaims["sub"] == .string("\(ada.userID)"), comment)
            #expect(try next.idClaims["canonical_sub"] == .string("\(ada.userID)"), comment)
            let others = try app.count(
                "SELECT COUNT(*) FROM grants WHERE application_id = ? AND sub <> CONCAT(user_id)", club.id)
            #expect(others == 0, comment)
        }
        #expect(app.database.isOnCluster || app.statistics.deadlocks.value == 0)
        #expect(app.statistics.exhaustions.value == 0)
    }

    /// Whatever its agent asks for beside an undo, only the agent's own user can decide.
    @Test func aRequestOfItsAgentAndADecision() throws {
        let oauth = try OAuthScene(app)
        var stayed = 0
        for number in 0..<Self.rounds {
            let ada = try oauth.person("agent's \(number)", email: nil)
            let bea = try oauth.person("survivor \(number)", email: nil)
            let agent = try oauth.client.agent(of: ada, in: app)
            let merge = try oauth.client.send(
                scene.mergeRequest(
                    Member(id: bea.userID, subject: "", token: bea.token), try scene.mergeToken(of: ada.userID))
            ).merge()
            let waiting = try oauth.client.ask(agent, ["action_type": "waiting"])
            let asking = try agent.asking()
            let offset = Duration.microseconds(500 * (number - Self.rounds / 2))
            let comment: Comment = "round \(number)"
            let answers = app.atOnce(3) { [app] client, thread -> Answer? in
                let start = ContinuousClock.now + max(.zero, thread == 0 ? .zero - offset : offset)
                while ContinuousClock.now < start {}
                switch thread {
                case 0:
                    #expect(app.undoOutcome(merge, ofNode: thread) == "undone", comment)
                    return nil
                case 1: return client.send(asking)
                default: return client.decide(waiting, "approved", as: bea, number: waiting.number)
                }
            }.compactMap(\.self)
            #expect(answers[0].status == 201 && [200, 404, 409].contains(answers[1].status), "\(comment): \(answers)")
            let rows = try app.column(
                """
                SELECT CONCAT_WS(' ', r.user_id, r.status) FROM agent_approvals r JOIN agents a ON a.id = r.agent_id
                WHERE a.public_id = ? ORDER BY r.id
                """, agent.id)
            #expect(rows[0] == "\(bea.userID) " + (answers[1].status == 200 ? "approved" : "cancelled"), comment)
            #expect(["\(bea.userID) cancelled", "\(ada.userID) pending"].contains(rows[1]), "\(comment): \(rows)")
            if rows[1].hasSuffix("pending") { stayed += 1 }
            let histories = try app.count(
                """
                SELECT COUNT(*) FROM agent_approval_history h JOIN agent_approvals r ON r.public_id = h.approval
                WHERE h.user_id <> r.user_id
                """)
            #expect(histories == 0, comment)
        }
        #expect(stayed < Self.rounds)
        #expect(app.database.isOnCluster || app.statistics.deadlocks.value == 0)
        #expect(app.statistics.exhaustions.value == 0)
    }

    /// Of two merges into one survivor only the later one can be undone, and then the other one.
    @Test func twoMergesIntoOne() throws {
        for number in 0..<Self.rounds {
            let (first, second, survivor) = (try furnished(), try furnished(), try furnished())
            let merges = try [first, second].map { absorbed in
                defer { app.time.advance(by: .seconds(1)) }
                return try scene.merge(absorbed.id, into: survivor).merge()
            }
            let outcomes = app.atOnce(2) { [app] _, thread in app.undoOutcome(merges[thread], ofNode: thread) }
            #expect(outcomes[1] == "undone", "round \(number)")
            #expect(["undone", "later_merge"].contains(outcomes[0]), "round \(number): \(outcomes)")
            if outcomes[0] != "undone" { try app.undo(merges[0]) }
            for member in [first, second, survivor] {
                let subject = try scene.ids("SELECT user_id FROM identities WHERE sub = ?", member.subject)
                #expect(subject == [member.id], "round \(number)")
            }
        }
        #expect(app.database.isOnCluster || app.statistics.deadlocks.value == 0)
    }
}
