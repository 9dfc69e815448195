import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

/// Merges against each other and against everything else that touches the same accounts: whoever wins, the tables are as if
/// the two had come one after the other.
@Suite struct MergeRaceTests {
    static let gone = #"401 {"error":"invalid_token"}"#
    static let consumed = #"401 {"error":"token_consumed"}"#
    static let rounds = 30

    let app: TestApp
    let scene: SwapScene
    let rp: RelyingParty

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
        rp = try scene.relyingParty()
    }

    /// Runs the rounds. In each round the second request starts a little later relative to the first, so that they meet
    /// at all points.
    private func race(
        _ prepare: () throws -> [RepeatableRequest],
        _ check: ([Answer], _ round: Int, _ invariants: MergeInvariants) throws -> Void
    ) throws {
        var racers: Racers?
        for round in 0..<Self.rounds {
            let requests = try prepare()
            let invariants = try MergeInvariants(scene)
            let offset = Duration.microseconds(300 * (round - Self.rounds / 2))
            let delays = [max(.zero, .zero - offset), max(.zero, offset)]
            let field = racers ?? Racers(app, requests.count)
            racers = field
            let answers = try field.race(requests, delays: delays)
            #expect(answers.allSatisfy { $0.status < 500 }, "round \(round): \(answers)")
            try check(answers, round, invariants)
        }
        // All take their locks in one order, so that nobody is even rolled back for it.
        #expect(app.database.isOnCluster || app.statistics.deadlocks.value == 0)
        #expect(app.statistics.exhaustions.value == 0)
        #expect(app.log.lines.filter { $0.hasPrefix("warning") || $0.hasPrefix("error") } == [])
    }

    private func furnished() throws -> Member {
        let member = try scene.member()
        try scene.furnish(member.id, shared: rp)
        return member
    }

    private func links() throws -> Int {
        try app.count("SELECT COUNT(*) FROM identity_links WHERE merged_via = 'session_token'")
    }

    @Test func bothIntoEachOther() throws {
        var before = 0
        try race {
            let (a, b) = (try furnished(), try furnished())
            before = try links()
            return [
                scene.mergeRequest(a, try scene.mergeToken(of: b.id)),
                scene.mergeRequest(b, try scene.mergeToken(of: a.id)),
            ]
        } _: { answers, _, invariants in
            #expect(answers.map(\.status).sorted() == [200, 401])
            #expect(answers.first { $0.status == 401 }?.description == Self.gone)
            // The loser's token stays unused.
            try invariants.check(links: before + 1)
        }
    }

    @Test func aChain() throws {
        var before = 0
        var cast: [Member] = []
        try race {
            cast = try [furnished(), furnished(), furnished()].shuffled()
            before = try links()
            return [
                scene.mergeRequest(cast[1], try scene.mergeToken(of: cast[0].id)),
                scene.mergeRequest(cast[2], try scene.mergeToken(of: cast[1].id)),
            ]
        } _: { answers, _, invariants in
            #expect(answers[1].status == 200)
            if answers[0].status != 200 { #expect(answers[0].description == Self.gone) }
            let done = answers.count { $0.status == 200 }
            try invariants.check(links: before + done)
            let leads = try scene.ids(
                "SELECT primary_user_id FROM identity_links WHERE linked_user_id IN (?, ?)", cast[0].id, cast[1].id)
            #expect(leads == Array(repeating: cast[2].id, count: done))
        }
    }

    @Test(arguments: [1, 2]) func oneTokenTwice(requesters: Int) throws {
        var before = 0
        try race {
            let (a, b, target) = (try furnished(), try furnished(), try furnished())
            before = try links()
            let token = try scene.mergeToken(of: target.id)
            return [scene.mergeRequest(a, token), scene.mergeRequest(requesters == 1 ? a : b, token)]
        } _: { answers, _, invariants in
            #expect(answers.map(\.status).sorted() == [200, 401])
            #expect(answers.first { $0.status == 401 }?.description == Self.consumed)
            try invariants.check(links: before + 1)
        }
    }

    @Test func oneRequestTwiceUnderOneKey() throws {
        var before = 0
        try race {
            let (a, target) = (try furnished(), try furnished())
            before = try links()
            let request = scene.mergeRequest(a, try scene.mergeToken(of: target.id), key: "key")
            return [request, request]
        } _: { answers, _, invariants in
            #expect(answers.map(\.status) == [200, 200])
            #expect(answers[0].text == answers[1].text)
            try invariants.check(links: before + 1)
        }
    }

    @Test func severalIntoOne() throws {
        var before = 0
        try race {
            let survivor = try furnished()
            before = try links()
            return try (0..<4).map { _ in scene.mergeRequest(survivor, try scene.mergeToken(of: furnished().id)) }
        } _: { answers, _, invariants in
            #expect(answers.allSatisfy { $0.status == 200 })
            try invariants.check(links: before + 4)
        }
    }

    // MARK: Swaps

    @Test func aSwapIntoTheOneThatIsAbsorbed() throws {
        var before = 0
        var cast: (anonymous: Phone, target: Member, survivor: Member)?
        try race {
            let (anonymous, target, survivor) = (try scene.anonymous(), try furnished(), try furnished())
            try scene.grant(anonymous.userID, try scene.relyingParty())
            cast = (anonymous, target, survivor)
            before = try links()
            return [
                scene.mergeRequest(survivor, try scene.mergeToken(of: target.id)),
                try scene.swapRequest(
                    anonymous, into: IdentifiedUser(id: target.id, subject: target.subject), by: .ticket),
            ]
        } _: { answers, _, invariants in
            let (anonymous, _, survivor) = try #require(cast)
            #expect(answers.map(\.status) == [200, 200])
            try invariants.check(links: before + 1, swapped: [anonymous.userID])
            #expect(
                try scene.ids("SELECT user_id FROM grants WHERE sub = ?", "\(anonymous.userID)") == [survivor.id])
            #expect(try scene.ids("SELECT user_id FROM devices WHERE id = ?", anonymous.deviceID) == [survivor.id])
            #expect(
                try scene.ids("SELECT canonical_user_id FROM absorbed_subs WHERE sub = ?", "\(anonymous.userID)")
                    == [survivor.id])
            // The swap's PAK is as good as its moment: the merge revokes it if it came later.
            let me = scene.client.send(.get, "/api/v1/me", token: answers[1]["access_token"]?.string)
            #expect(me.status == 401 || me["user"]?["id"]?.integer == survivor.id)
        }
    }

    @Test func aSwapOfTheOneThatIsAbsorbed() throws {
        var before = 0
        var anonymous = 0
        try race {
            let (a, other, survivor) = (try scene.anonymous(), try scene.identified(), try furnished())
            anonymous = a.userID
            try scene.grant(a.userID, try scene.relyingParty())
            before = try links()
            return [
                scene.mergeRequest(survivor, try scene.mergeToken(of: a.userID)),
                try scene.swapRequest(a, into: other, by: .ticket),
            ]
        } _: { answers, _, invariants in
            let isMerged = answers[0].status == 200
            #expect(answers[isMerged ? 1 : 0].description == Self.gone)
            #expect(answers[isMerged ? 0 : 1].status == 200)
            try invariants.check(links: before + (isMerged ? 1 : 0), swapped: isMerged ? [] : [anonymous])
        }
    }

    // MARK: The rest

    @Test func aLinkOfTheOneThatIsAbsorbed() throws {
        var before = 0
        var cast: (target: Member, survivor: Member)?
        try race {
            let (target, survivor) = (try furnished(), try furnished())
            cast = (target, survivor)
            before = try links()
            let link = RepeatableRequest(
                method: .post, path: "/api/v1/me/connected_identities",
                body: app.proof("google-\(target.id)", of: .google).adding(["provider": "google"]),
                token: target.token)
            return [scene.mergeRequest(survivor, try scene.mergeToken(of: target.id)), link]
        } _: { answers, _, invariants in
            let (target, survivor) = try #require(cast)
            #expect(answers[0].status == 200)
            let owners = try scene.ids("SELECT user_id FROM identities WHERE sub = ?", "google-\(target.id)")
            if answers[1].status == 200 {
                #expect(owners == [survivor.id])
            } else {
                #expect(answers[1].description == Self.gone)
                #expect(owners == [])
            }
            try invariants.check(links: before + 1)
        }
    }

    @Test func aSignInAsTheOneThatIsAbsorbed() throws {
        var before = 0
        var survivor = 0
        try race {
            let (target, requester) = (try furnished(), try furnished())
            survivor = requester.id
            before = try links()
            let session = RepeatableRequest(
                method: .post, path: "/api/v1/auth/apple/session",
                body: app.proof(target.subject).adding([
                    "device_uuid": .string(uuid(scene.next())), "platform": "ios",
                ]))
            return [scene.mergeRequest(requester, try scene.mergeToken(of: target.id)), session]
        } _: { answers, _, invariants in
            #expect(answers.map(\.status) == [200, 200])
            try invariants.check(links: before + 1)
            // Whoever came first: the device opens the survivor.
            let again = scene.client.send(
                .post, "/api/v1/devices",
                [
                    "device_uuid": answers[1]["device"]?["device_uuid"] ?? .null, "platform": "ios",
                    "device_secret": answers[1]["device_secret"] ?? .null,
                ])
            #expect(again["user"]?["id"]?.integer == survivor)
        }
    }

    @Test func aDisconnectionByTheOneThatIsAbsorbed() throws {
        var before = 0
        var cast: (target: Member, survivor: Member)?
        try race {
            let (target, survivor) = (try furnished(), try furnished())
            cast = (target, survivor)
            before = try links()
            let disconnect = RepeatableRequest(
                method: .delete, path: "/api/v1/me/connected_apps/\(rp.clientID)", token: target.token)
            return [scene.mergeRequest(survivor, try scene.mergeToken(of: target.id)), disconnect]
        } _: { answers, _, invariants in
            let (target, _) = try #require(cast)
            #expect(answers[0].status == 200)
            let isRevoked = try app.count(
                "SELECT COUNT(*) FROM grants WHERE sub = ? AND application_id = ? AND revoked_at IS NOT NULL",
                "\(target.id)", rp.id)
            #expect(isRevoked == (answers[1].status < 300 ? 1 : 0))
            if answers[1].status >= 300 { #expect(answers[1].description == Self.gone) }
            // One of them tells the relying party: of the end of the consent, or of the merge.
            let told = try app.column(
                """
                SELECT event_type FROM webhook_outbox
                WHERE application_id = ? AND COALESCE(JSON_VALUE(raw_payload, '$.data.merged_canonical_sub'),
                                                      JSON_VALUE(raw_payload, '$.data.sub')) = ?
                ORDER BY event_type
                """, rp.id, "\(target.id)")
            #expect(
                told
                    == (isRevoked == 1
                        ? ["consent.revoked", "token.revoked", "user.grants_revoked"] : ["user.merged"]))
            try invariants.check(links: before + 1)
        }
    }
}
