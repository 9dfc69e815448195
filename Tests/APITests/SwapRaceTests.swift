import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing
import Threads

/// Swaps against all other writes to the same accounts. The tables are as if the two requests had run one after the
/// other, and no client sees an internal conflict.
@Suite struct SwapRaceTests {
    static let gone = #"401 {"error":"invalid_token"}"#
    static let rounds = 50

    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    /// Runs the rounds. In each round the second request starts a little later relative to the first, so that they meet
    /// at all points.
    private func race(
        against contenders: Int = 2, _ prepare: () throws -> [RepeatableRequest],
        _ check: ([Answer], _ invariants: SwapInvariants) throws -> Void
    ) throws {
        let racers = Racers(app, contenders)
        for round in 0..<Self.rounds {
            let requests = try prepare()
            let invariants = try SwapInvariants(scene)
            let offset = Duration.microseconds(200 * (round - Self.rounds / 2))
            let answers = try racers.race(requests, delays: [max(.zero, .zero - offset), max(.zero, offset)])
            #expect(answers.allSatisfy { $0.status < 500 }, "round \(round): \(answers)")
            try check(answers, invariants)
        }
        // All take their locks in one order, so that on one server nobody is even rolled back for it.
        #expect(app.database.isOnCluster || app.statistics.deadlocks.value == 0)
        #expect(app.statistics.exhaustions.value == 0)
        #expect(app.log.lines.filter { $0.hasPrefix("warning") || $0.hasPrefix("error") } == [])
    }

    /// An account with rows of every kind. Others may have the same payload and relying party.
    private func furnished(_ rp: RelyingParty, payload: String) throws -> Phone {
        let a = try scene.anonymous()
        try scene.grant(a.userID, rp)
        try scene.grant(a.userID, try scene.relyingParty())
        let agent = try scene.agent(a.userID)
        try scene.approval(a.userID, of: agent, payload: payload)
        try scene.approval(a.userID, of: agent)
        try scene.notification(requested: a.userID, approved: a.userID)
        return a
    }

    /// Checks that this is a PAK of B, on whatever device.
    private func expectToken(_ answer: Answer, of user: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        let me = scene.client.send(.get, "/api/v1/me", token: answer["access_token"]?.string)
        #expect(me["user"]?["id"]?.integer == user, sourceLocation: sourceLocation)
    }

    @Test func oneAccountIntoTwo() throws {
        let rp = try scene.relyingParty(notified: true)
        var cast: (a: Phone, b: IdentifiedUser, c: IdentifiedUser)?
        try race {
            let a = try furnished(rp, payload: "same")
            let (b, c) = (try scene.identified(), try scene.identified())
            cast = (a, b, c)
            let proof = SwapScene.Proof.allCases[a.userID % 2]
            return [try scene.swapRequest(a, into: b, by: proof), try scene.swapRequest(a, into: c, by: proof)]
        } _: { answers, invariants in
            let (a, b, c) = try #require(cast)
            let winner = answers[0].status == 200 ? 0 : 1
            let into = [b.id, c.id][winner]
            #expect(answers[winner].status == 200)
            #expect(answers[1 - winner].description == Self.gone)
            try invariants.check([DoneSwap(from: a.userID, into: into)])
            expectToken(answers[winner], of: into)
            #expect(try scene.value("SELECT user_id FROM devices WHERE id = ?", a.deviceID) == into)
        }
    }

    @Test func againstALinkThatPromotesA() throws {
        let rp = try scene.relyingParty()
        var cast: (a: Phone, b: IdentifiedUser)?
        try race {
            let (a, b) = (try furnished(rp, payload: "same"), try scene.identified())
            cast = (a, b)
            let link = RepeatableRequest(
                method: .post, path: "/api/v1/me/connected_identities",
                body: app.proof("google-\(a.userID)", of: .google).adding(["provider": "google"]), token: a.token)
            return [try scene.swapRequest(a, into: b), link]
        } _: { answers, invariants in
            let (a, b) = try #require(cast)
            let identities = try scene.ids("SELECT user_id FROM identities WHERE sub = ?", "google-\(a.userID)")
            if answers[0].status == 200 {
                #expect(answers[1].description == Self.gone)
                #expect(identities == [])
                try invariants.check([DoneSwap(from: a.userID, into: b.id)])
            } else {
                #expect(answers[0].description == #"422 {"error":"non_anonymous_caller"}"#)
                #expect(answers[1].status == 200)
                #expect(identities == [a.userID])
                try invariants.check([])
            }
        }
    }

    @Test func twoAccountsIntoOne() throws {
        let rp = try scene.relyingParty(notified: true)
        var cast: (a: [Phone], b: IdentifiedUser)?
        try race {
            // The survivor's id is below, between and above the others'.
            let early = try scene.identified()
            let first = try furnished(rp, payload: "same")
            let middle = try scene.identified()
            let second = try furnished(rp, payload: "same")
            let b = [early, middle, try scene.identified()][first.userID % 3]
            cast = ([first, second], b)
            return try [first, second].map { try scene.swapRequest($0, into: b) }
        } _: { answers, invariants in
            let (a, b) = try #require(cast)
            #expect(answers.map(\.status) == [200, 200])
            #expect(sum(answers, "rps", "transferred") == 3)
            #expect(sum(answers, "rps", "skipped_duplicate") == 1)
            #expect(sum(answers, "agent_approvals", "transferred") == 3)
            #expect(sum(answers, "agent_approvals", "skipped_duplicate") == 1)
            #expect(sum(answers, "notifications", "transferred") == 2)
            try invariants.check(a.map { DoneSwap(from: $0.userID, into: b.id) })
            answers.forEach { expectToken($0, of: b.id) }
        }
    }

    private func sum(_ answers: [Answer], _ kind: String, _ count: String) -> Int {
        answers.reduce(0) { $0 + ($1["merged"]?[kind]?[count]?.integer ?? 0) }
    }

    @Test func thirtyTwoAccountsIntoOne() throws {
        let rp = try scene.relyingParty(notified: true)
        var cast: (a: [Phone], b: IdentifiedUser)?
        try race(against: 32) {
            let a = try (0..<32).map { _ in
                let a = try scene.anonymous()
                try scene.grant(a.userID, rp)
                try scene.approval(a.userID, of: try scene.agent(a.userID), payload: "same")
                try scene.notification(requested: a.userID)
                return a
            }
            let b = try scene.identified()
            cast = (a, b)
            return try a.map { try scene.swapRequest($0, into: b, by: .ticket) }
        } _: { answers, invariants in
            let (a, b) = try #require(cast)
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers)")
            #expect(sum(answers, "rps", "transferred") == 1)
            #expect(sum(answers, "rps", "skipped_duplicate") == 31)
            #expect(sum(answers, "agent_approvals", "transferred") == 1)
            #expect(sum(answers, "agent_approvals", "skipped_duplicate") == 31)
            #expect(sum(answers, "notifications", "transferred") == 32)
            try invariants.check(a.map { DoneSwap(from: $0.userID, into: b.id) })
            #expect(try scene.ids("SELECT id FROM devices WHERE user_id = ?", b.id).count == 32)
            #expect(try scene.ids("SELECT id FROM paks WHERE user_id = ? AND revoked_at IS NULL", b.id).count == 32)
        }
        let events = try scene.db.all("SELECT event_id FROM webhook_outbox ORDER BY id") { row in
            try row.read(String.self)
        }
        #expect(events == Set(events).sorted())
        #expect(events.count == 32 * Self.rounds)
    }

    @Test func againstABootstrapOfTheSameDevice() throws {
        let rp = try scene.relyingParty()
        var cast: (a: Phone, b: IdentifiedUser)?
        try race {
            let (a, b) = (try furnished(rp, payload: "same"), try scene.identified())
            cast = (a, b)
            let bootstrap = RepeatableRequest(
                method: .post, path: "/api/v1/devices",
                body: [
                    "device_uuid": .string(a.uuid), "platform": "ios", "device_secret": .string(a.secret),
                ])
            return [try scene.swapRequest(a, into: b), bootstrap]
        } _: { answers, invariants in
            let (a, b) = try #require(cast)
            #expect(answers[0].status == 200)
            #expect(answers[0]["device"]?["id"]?.integer == a.deviceID)
            if answers[1].status == 200 {
                // It came first: the key it got went with A.
                #expect(answers[1]["user"]?["id"]?.integer == a.userID)
                let late = scene.client.send(.get, "/api/v1/me", token: answers[1]["access_token"]?.string)
                #expect(late.description == Self.gone)
            } else {
                #expect(answers[1].description == #"401 {"error":"invalid_device_secret"}"#)
            }
            try invariants.check([DoneSwap(from: a.userID, into: b.id)])
            expectToken(answers[0], of: b.id)
            #expect(try scene.ids("SELECT user_id FROM devices WHERE id = ?", a.deviceID) == [b.id])
            #expect(try scene.ids("SELECT user_id FROM paks WHERE device_id = ?", a.deviceID) == [b.id])
        }
    }

    @Test func againstABootstrapOfAnotherDeviceOfA() throws {
        var cast: (a: Phone, b: IdentifiedUser, otherDevice: Int)?
        try race {
            let (a, b) = (try scene.anonymous(), try scene.identified())
            let other = try scene.phone(of: a.userID)
            cast = (a, b, other.id)
            let bootstrap = RepeatableRequest(
                method: .post, path: "/api/v1/devices",
                body: [
                    "device_uuid": .string(other.uuid), "platform": "ios", "device_secret": .string(other.secret),
                ])
            return [try scene.swapRequest(a, into: b), bootstrap]
        } _: { answers, invariants in
            let (a, b, otherDevice) = try #require(cast)
            #expect(answers[0].status == 200)
            if answers[1].status != 200 {
                #expect(answers[1].description == #"401 {"error":"invalid_device_secret"}"#)
            }
            try invariants.check([DoneSwap(from: a.userID, into: b.id)])
            #expect(try scene.ids("SELECT user_id FROM devices WHERE id IN (?, ?)", a.deviceID, otherDevice) == [b.id])
        }
    }

    @Test func againstSigningOut() throws {
        let rp = try scene.relyingParty()
        var cast: (a: Phone, b: IdentifiedUser)?
        try race {
            let (a, b) = (try furnished(rp, payload: "same"), try scene.identified())
            cast = (a, b)
            let signOut = RepeatableRequest(method: .delete, path: "/api/v1/auth/session", token: a.token)
            return [try scene.swapRequest(a, into: b, by: .ticket), signOut]
        } _: { answers, invariants in
            let (a, b) = try #require(cast)
            if answers[0].status == 200 {
                #expect(answers[1].description == Self.gone)
                try invariants.check([DoneSwap(from: a.userID, into: b.id)])
            } else {
                #expect(answers[0].description == Self.gone)
                #expect(answers[1].status == 204)
                try invariants.check([])
            }
        }
    }

    /// In either order, the name that B chose remains.
    @Test func againstTheSurvivorNamingItself() throws {
        let rp = try scene.relyingParty()
        var cast: (a: Phone, b: IdentifiedUser)?
        try race {
            let (a, b) = (try furnished(rp, payload: "same"), try scene.identified(name: nil))
            try scene.pak("lpk_live_\(b.id)", of: b.id, on: nil)
            cast = (a, b)
            let naming = RepeatableRequest(
                method: .patch, path: "/api/v1/me", body: ["name": "Chosen", "nickname": "Bea"],
                token: "lpk_live_\(b.id)")
            return [try scene.swapRequest(a, into: b, [("full_name", ["given_name": "Given"])]), naming]
        } _: { answers, invariants in
            let (a, b) = try #require(cast)
            #expect(answers.map(\.status) == [200, 200])
            #expect(try scene.value("SELECT name FROM users WHERE id = ?", b.id) == "Chosen")
            #expect(try scene.value("SELECT nickname FROM users WHERE id = ?", b.id) == "Bea")
            try invariants.check([DoneSwap(from: a.userID, into: b.id)])
        }
    }

    /// - Parameter isSurvivor: whether the one who signs in on A's device is the one A is swapped into.
    @Test(arguments: [true, false]) func againstASessionOnTheSameDevice(isSurvivor: Bool) throws {
        let rp = try scene.relyingParty()
        var cast: (a: Phone, b: IdentifiedUser, c: IdentifiedUser)?
        try race {
            let (a, b) = (try furnished(rp, payload: "same"), try scene.identified())
            let c = isSurvivor ? b : try scene.identified()
            cast = (a, b, c)
            let session = RepeatableRequest(
                method: .post, path: "/api/v1/auth/apple/session",
                body: app.proof(c.subject).adding([
                    "device_uuid": .string(a.uuid), "platform": "ios", "device_secret": .string(a.secret),
                ]))
            return [try scene.swapRequest(a, into: b), session]
        } _: { answers, invariants in
            let (a, b, c) = try #require(cast)
            let (swap, session) = (answers[0], answers[1])
            #expect(swap.status == 200)
            let sessionWasFirst = swap["device"] == .null
            if !sessionWasFirst, !isSurvivor {
                #expect(session.description == #"409 {"error":"device_claimed_by_other_user"}"#)
            } else {
                #expect(session.status == 200)
                expectToken(session, of: c.id)
            }
            expectToken(swap, of: b.id)
            let owner = sessionWasFirst ? c.id : b.id
            let latest = session.status == 200 ? session : swap
            #expect(try scene.ids("SELECT user_id FROM devices WHERE id = ?", a.deviceID) == [owner])
            let again = scene.client.send(
                .post, "/api/v1/devices",
                [
                    "device_uuid": .string(a.uuid), "platform": "ios",
                    "device_secret": latest["device_secret"] ?? .null,
                ])
            #expect(again["user"]?["id"]?.integer == owner)
            try invariants.check([DoneSwap(from: a.userID, into: b.id)])
        }
    }

    @Test func againstTheSurvivorsUnlinking() throws {
        let rp = try scene.relyingParty()
        var cast: (a: Phone, b: IdentifiedUser)?
        try race {
            let (a, b) = (try furnished(rp, payload: "same"), try scene.identified())
            try scene.identity("google-\(b.id)", .google, of: b.id)
            try scene.pak("lpk_live_\(b.id)", of: b.id, on: nil)
            cast = (a, b)
            let unlink = RepeatableRequest(
                method: .delete, path: "/api/v1/me/connected_identities/apple", token: "lpk_live_\(b.id)")
            return [try scene.swapRequest(a, into: b), unlink]
        } _: { answers, invariants in
            let (a, b) = try #require(cast)
            #expect(answers[1].status == 200)
            if answers[0].status == 200 {
                try invariants.check([DoneSwap(from: a.userID, into: b.id)])
            } else {
                let error = #"422 {"error":"identity_does_not_resolve_to_existing_account"}"#
                #expect(answers[0].description == error)
                try invariants.check([])
            }
        }
    }

    @Test(arguments: [2, 8]) func theSameKeyAtOnce(copies: Int) throws {
        let rp = try scene.relyingParty(notified: true)
        var cast: (a: Phone, b: IdentifiedUser)?
        try race(against: copies) {
            let (a, b) = (try furnished(rp, payload: "same"), try scene.identified())
            cast = (a, b)
            return Array(repeating: try scene.swapRequest(a, into: b, by: .ticket, key: "key"), count: copies)
        } _: { answers, invariants in
            let (a, b) = try #require(cast)
            #expect(answers.allSatisfy { $0.status == 200 && $0.text == answers[0].text })
            #expect(answers.count { $0.header("Idempotency-Replayed") == nil } == 1)
            #expect(answers.count { $0.header("Idempotency-Replayed") == "true" } == copies - 1)
            try invariants.check([DoneSwap(from: a.userID, into: b.id)])
        }
    }

    @Test func oneKeyForTwoSwapsAtOnce() throws {
        let rp = try scene.relyingParty()
        var cast: (a: Phone, into: [IdentifiedUser])?
        try race {
            let a = try furnished(rp, payload: "same")
            let into = [try scene.identified(), try scene.identified()]
            cast = (a, into)
            return try into.map { try scene.swapRequest(a, into: $0, key: "key") }
        } _: { answers, invariants in
            let (a, into) = try #require(cast)
            let winner = answers[0].status == 200 ? 0 : 1
            #expect(answers[winner].status == 200)
            #expect(answers[1 - winner].description == #"422 {"error":"idempotency_key_reused"}"#)
            try invariants.check([DoneSwap(from: a.userID, into: into[winner].id)])
        }
    }

    /// Rows given to A until the swap's commit go to B: a write that names A takes a lock that the swap holds.
    @Test func whatAGetsMeanwhileIsNotLost() throws {
        for _ in 0..<10 {
            let (a, b) = (try scene.anonymous(), try scene.identified())
            let agent = try scene.agent(a.userID)
            let given = Monitor((0, isOver: false))
            let giver = Thread { [app] in
                defer { given.change { $0.isOver = true } }
                guard let db = try? app.database.connect() else { return }
                do {
                    for number in 0... {
                        try db.execute(
                            "INSERT INTO push_approval_requests (requested_user_id, expires_at) VALUES (?, NOW())",
                            a.userID)
                        try db.execute(
                            """
                            INSERT INTO agent_approvals (user_id, agent_id, public_id, display_payload_hash)
                            VALUES (?, ?, ?, ?)
                            """, a.userID, agent, "\(agent)-\(number)", "\(number)")
                        given.change { $0.0 += 1 }
                    }
                } catch {
                    // There is no A to give anything to any more.
                }
            }
            _ = given.wait(atMost: .seconds(30)) { $0.0 >= 20 || $0.isOver ? true : nil }
            let answer = try scene.swap(a, into: b)
            giver.join()
            let count = given.withLock { $0.0 }
            #expect(count >= 20)
            let moved = try scene.ids("SELECT id FROM push_approval_requests WHERE requested_user_id = ?", b.id).count
            // Between the two inserts it may have been the notification alone.
            #expect(moved == count || moved == count + 1)
            #expect(answer["merged"]?["notifications"]?["transferred"]?.integer == moved)
            #expect(try scene.ids("SELECT id FROM agent_approvals WHERE user_id = ?", b.id).count == count)
            #expect(answer["merged"]?["agent_approvals"]?["transferred"]?.integer == count)
        }
    }
}
