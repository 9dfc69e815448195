import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// The order in which a merge, and what else touches the same rows, takes its locks (accounts §0.4). Nobody who waits for a
/// lock has one that comes later, and so no two wait for each other.
@Suite struct MergeLockOrderTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    /// Sends a request that waits for rows that another transaction has locked, and checks that it has not locked others yet.
    ///
    /// - Parameters:
    ///   - first: `SELECT … FOR UPDATE` of what comes first.
    ///   - later: `SELECT … FOR UPDATE` of what comes later.
    private func expect(
        _ request: RepeatableRequest, locks first: String, before later: String..., status: Int = 200
    ) throws {
        let result = try scene.send(request, whileHeld: first) { _ in
            let db = try app.database.connect()
            for later in later {
                #expect(throws: Never.self, "\(later)") { try db.executeScript("\(later) NOWAIT") }
            }
        }
        #expect(result.status == status, "\(result)")
        #expect(app.database.isOnCluster || app.statistics.deadlocks.value == 0)
    }

    /// Relying parties with ascending ids.
    private func relyingParties(_ count: Int) throws -> [RelyingParty] {
        try (0..<count).map { _ in try scene.relyingParty() }.sorted { $0.id < $1.id }
    }

    private func give(_ application: RelyingParty, to user: Int) throws {
        try scene.db.execute("UPDATE applications SET owner_user_id = ? WHERE id = ?", user, application.id)
    }

    // MARK: Users and PAKs

    @Test func allUsersComeBeforeThePAK() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        try #require(survivor.id < absorbed.id)
        try expect(
            scene.mergeRequest(survivor, try scene.mergeToken(of: absorbed.id)),
            locks: "SELECT id FROM users WHERE id = \(absorbed.id) FOR UPDATE",
            before: "SELECT id FROM paks WHERE user_id = \(survivor.id) FOR UPDATE")
    }

    @Test func theHolderComesBeforeThePAK() throws {
        let phone = try scene.anonymous()
        let holder = try scene.identified()
        try #require(phone.userID < holder.id)
        let link = RepeatableRequest(
            method: .post, path: "/api/v1/me/connected_identities",
            body: app.proof(holder.subject).adding(["provider": "apple"]), token: phone.token)
        try expect(
            link, locks: "SELECT id FROM users WHERE id = \(holder.id) FOR UPDATE",
            before: "SELECT id FROM paks WHERE user_id = \(phone.userID) FOR UPDATE", status: 409)
    }

    // MARK: Merges

    @Test func identitiesComeBeforeTheToken() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        try expect(
            scene.mergeRequest(survivor, try scene.mergeToken(of: absorbed.id)),
            locks: "SELECT id FROM identities WHERE user_id = \(absorbed.id) FOR UPDATE",
            before: "SELECT id FROM merge_tokens WHERE user_id = \(absorbed.id) FOR UPDATE")
    }

    /// One application moves with its owner, the other one is told.
    @Test(arguments: [true, false]) func applicationsComeInOneOrder(isFirstTold: Bool) throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        let applications = try relyingParties(2)
        try give(applications[isFirstTold ? 1 : 0], to: absorbed.id)
        try scene.grant(absorbed.id, applications[isFirstTold ? 0 : 1])
        try expect(
            scene.mergeRequest(survivor, try scene.mergeToken(of: absorbed.id)),
            locks: "SELECT id FROM applications WHERE id = \(applications[0].id) FOR UPDATE",
            before: "SELECT id FROM applications WHERE id = \(applications[1].id) FOR UPDATE",
            "SELECT id FROM identities WHERE user_id = \(absorbed.id) FOR UPDATE")
    }

    /// Whoever changes an application may write an event for it.
    @Test func applicationsComeBeforeTheirEvents() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        let rp = try scene.relyingParty()
        try scene.grant(absorbed.id, rp)
        try scene.db.execute("INSERT INTO application_event_counters (application_id) VALUES (?)", rp.id)
        try expect(
            scene.mergeRequest(survivor, try scene.mergeToken(of: absorbed.id)),
            locks: "SELECT id FROM applications WHERE id = \(rp.id) FOR UPDATE",
            before: "SELECT 1 FROM application_event_counters WHERE application_id = \(rp.id) FOR UPDATE")
    }

    /// An exchange locks the grant, then the code.
    @Test func grantsComeBeforeTheCodesOfSessions() throws {
        let (survivor, absorbed) = (try scene.member(), try scene.member())
        let grant = try scene.grant(absorbed.id, scene.relyingParty())
        let handle = [UInt8](repeating: 7, count: 16)
        try scene.db.execute(
            """
            INSERT INTO web_sessions (digest, user_id, handle, expires_at) VALUES (UNHEX(SHA2('session', 256)), ?, ?, ?)
            """, absorbed.id, handle, app.time.now + .seconds(3600))
        try scene.db.execute("UPDATE authorization_codes SET session_handle = ? WHERE grant_id = ?", handle, grant)
        try expect(
            scene.mergeRequest(survivor, try scene.mergeToken(of: absorbed.id)),
            locks: "SELECT id FROM grants WHERE user_id = \(absorbed.id) FOR UPDATE",
            before: "SELECT id FROM authorization_codes WHERE grant_id = \(grant) FOR UPDATE")
        let used = "SELECT COUNT(used_at) FROM authorization_codes WHERE grant_id = ?" as StaticString
        #expect(try app.count(used, grant) == 1)
    }

    // MARK: Removing an identity

    @Test func absorbedUsersComeInTheOrderOfIDs() throws {
        let (absorbed, survivor) = (try scene.member(), try scene.member())
        try #require(absorbed.id < survivor.id)
        try scene.db.execute(
            "INSERT INTO identities (user_id, provider, sub) VALUES (?, 'google', 'second')", survivor.id)
        try scene.merge(absorbed.id, into: survivor)
        try expect(
            RepeatableRequest(
                method: .delete, path: "/api/v1/me/connected_identities/google", token: survivor.token),
            locks: "SELECT id FROM users WHERE id = \(absorbed.id) FOR UPDATE",
            before: "SELECT id FROM users WHERE id = \(survivor.id) FOR UPDATE")
    }

    // MARK: Races

    private func race(_ prepare: (Int) throws -> [RepeatableRequest], _ check: ([Answer]) throws -> Void) throws {
        let racers = Racers(app, 2)
        for round in 0..<30 {
            let offset = Duration.microseconds(200 * (round - 15))
            let answers = try racers.race(
                prepare(round), delays: [max(.zero, .zero - offset), max(.zero, offset)])
            try check(answers)
        }
        #expect(app.database.isOnCluster || app.statistics.deadlocks.value == 0)
        #expect(app.statistics.exhaustions.value == 0)
    }

    /// Each absorbs the owner of an application that the other tells.
    @Test func eachTellsWhatTheOtherMoves() throws {
        try race { _ in
            let applications = try relyingParties(2)
            return try (0..<2).map { number in
                let (survivor, absorbed) = (try scene.member(), try scene.member())
                try give(applications[number], to: absorbed.id)
                try scene.grant(absorbed.id, applications[1 - number])
                return scene.mergeRequest(survivor, try scene.mergeToken(of: absorbed.id))
            }
        } _: { answers in
            #expect(answers.map(\.status) == [200, 200])
        }
    }

    @Test func aMergeOfTheOwnerBesideADisconnection() throws {
        try race { _ in
            let rp = try scene.relyingParty()
            let (survivor, absorbed, user) = (try scene.member(), try scene.member(), try scene.member())
            try give(rp, to: absorbed.id)
            for id in [absorbed.id, user.id] { try scene.grant(id, rp) }
            return [
                scene.mergeRequest(survivor, try scene.mergeToken(of: absorbed.id)),
                RepeatableRequest(
                    method: .delete, path: "/api/v1/me/connected_apps/\(rp.clientID)", token: user.token),
            ]
        } _: { answers in
            #expect(answers.map(\.status) == [200, 204])
        }
    }

    @Test func aRepeatedMergeBesideTheRemovalOfAnIdentity() throws {
        try race { round in
            let (absorbed, survivor) = (try scene.member(), try scene.member())
            try scene.db.execute(
                "INSERT INTO identities (user_id, provider, sub) VALUES (?, 'google', ?)", survivor.id,
                "second-\(round)")
            let merge = scene.mergeRequest(survivor, try scene.mergeToken(of: absorbed.id))
            #expect(scene.client.send(merge).status == 200)
            return [
                merge,
                RepeatableRequest(
                    method: .delete, path: "/api/v1/me/connected_identities/google", token: survivor.token),
            ]
        } _: { answers in
            #expect(answers[0].description == #"401 {"error":"token_consumed"}"#)
            #expect(answers[1].status < 300)
        }
    }
}
