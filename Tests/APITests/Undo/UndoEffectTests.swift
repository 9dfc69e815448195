import API
import HTTP
import IdentityTokens
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing
import Text
import Threads
import Time

@testable import Accounts

/// What people and relying parties see after an undo (accounts Stage 6).
@Suite struct UndoEffectTests {
    let scene: OAuthScene
    let app: TestApp
    /// Knows both.
    let shop: TestClient
    /// Knows only who is absorbed.
    let club: TestClient
    let ada: Phone
    let bea: Phone

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        shop = try scene.register("Shop", confidential: true, anonymous: true)
        club = try scene.register("Club", confidential: true, anonymous: true)
        try app.change(
            """
            UPDATE applications SET linked_sub_details = TRUE, backchannel_logout_uri = 'https://rp.example/logout'
            """)
        ada = try scene.person("ada", email: "ada@example.com")
        bea = try scene.person("bea", email: "bea@example.com")
    }

    private func merge() throws -> MergeID {
        let token = scene.client.send(.post, "/api/v1/me/merge/session-token", token: ada.token)["session_token"]
        app.time.advance(by: .seconds(1))
        let merge = try scene.client.send(
            .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: bea.token
        ).merge()
        app.time.advance(by: .seconds(1))
        return merge
    }

    /// Neither a merge nor its undo lets whoever had the device before be asked there.
    @Test func aDeviceThatChangesItsOwnerIsNotNotified() throws {
        func register(_ pak: String) throws {
            let body: JSONValue = ["token": .string(String(repeating: "0f", count: 32)), "environment": "production"]
            let answer = scene.client.send(.put, "/api/v1/me/push_token", body, token: pak)
            try #require(answer.status == 204, "\(answer)")
        }
        func tokens() throws -> Int { try app.count("SELECT COUNT(*) FROM push_tokens") }

        try register(ada.token)
        let merge = try merge()
        #expect(try tokens() == 0)
        try register(scene.client.reopen(ada))
        #expect(try tokens() == 1)
        app.time.advance(by: .seconds(1))
        try app.undo(merge)
        #expect(try tokens() == 0)
    }

    /// A family that an exchange has begun, and not committed when the merge comes.
    @Test func aFamilyThatBeganBeforeTheMergeLives() throws {
        _ = try scene.signIn(club, as: ada)
        let token = scene.client.send(.post, "/api/v1/me/merge/session-token", token: ada.token)["session_token"]
        let holder = try app.database.connect()
        try holder.executeScript(
            """
            START TRANSACTION;
            SELECT id FROM grants WHERE user_id = \(ada.userID) LOCK IN SHARE MODE;
            INSERT INTO refresh_families (grant_id, handle) SELECT id, REPEAT('h', 16) FROM grants WHERE user_id = \(ada.userID)
            """)
        let answer = Monitor<Answer?>(nil)
        let merging = JobThread { [app, bea] in
            let merged = app.client().send(
                .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: bea.token)
            answer.change { $0 = merged }
        }
        try app.waitForALockWait()
        try holder.executeScript("COMMIT")
        #expect(merging.failure == nil)
        let merge = try #require(answer.withLock { $0 }).merge()
        app.time.advance(by: .seconds(1))
        try app.undo(merge)
        #expect(
            try app.count(
                "SELECT COUNT(*) FROM refresh_families WHERE handle = REPEAT('h', 16) AND revoked_at IS NULL") == 1)
    }

    private func swap(_ phone: Phone, rps: [TestClient]? = nil) throws -> (merge: MergeID, phone: Phone) {
        app.time.advance(by: .seconds(1))
        let answer = scene.client.send(scene.swapRequest(phone, into: "bea", rps: rps?.map(\.clientID)))
        try #require(answer.status == 200, "\(answer)")
        app.time.advance(by: .seconds(1))
        return (try app.newestSwap(), try Phone(answer))
    }

    private func user(_ token: String) -> Int? {
        scene.client.send(.get, "/api/v1/me", token: token)["user"]?["id"]?.integer
    }

    /// The phone as it starts again.
    private func reopened(_ phone: Phone) throws -> Phone {
        var phone = phone
        phone.token = try scene.client.reopen(phone)
        phone.userID = try #require(user(phone.token))
        return phone
    }

    /// The tokens are good, and mean this user alone.
    private func expectSubject(
        of tokens: Tokens, at rp: TestClient, is user: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let next = try Tokens(scene.refresh(tokens.refresh, by: rp))
        let claims = try payload(of: try #require(next.id))
        for claims in [claims, scene.userInfo(next.access).json, scene.userInfo(tokens.access).json] {
            #expect(claims["sub"] == .string("\(user)"), sourceLocation: sourceLocation)
            #expect(claims["canonical_sub"] == .string("\(user)"), sourceLocation: sourceLocation)
            #expect(claims["is_canonical"] == true, sourceLocation: sourceLocation)
            #expect(claims["linked_subs"] ?? .array([]) == .array([]), sourceLocation: sourceLocation)
        }
        for token in [next.access, next.refresh] {
            let found = scene.introspect(token, by: rp)
            #expect(found["active"] == true, sourceLocation: sourceLocation)
            #expect(found["canonical_sub"] == .string("\(user)"), sourceLocation: sourceLocation)
        }
    }

    private func expectEnded(
        _ tokens: Tokens, at rp: TestClient, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(scene.refresh(tokens.refresh, by: rp).error == "invalid_grant", sourceLocation: sourceLocation)
        #expect(scene.userInfo(tokens.access).status == 401, sourceLocation: sourceLocation)
        #expect(scene.introspect(tokens.access, by: rp)["active"] == false, sourceLocation: sourceLocation)
    }

    // MARK: A merge

    @Test func bothGoOnAsThemselves() throws {
        let adas = [(shop, try scene.signIn(shop, as: ada)), (club, try scene.signIn(club, as: ada))]
        let beas = try scene.signIn(shop, as: bea)
        let merge = try merge()
        #expect(try reopened(ada).userID == bea.userID)
        let undone = try app.undo(merge)
        #expect(undone.kept == [])
        #expect(undone.unlinkedSubs == ["\(ada.userID)"])
        for (rp, tokens) in adas {
            try expectSubject(of: tokens, at: rp, is: ada.userID)
            let found = scene.sub("\(ada.userID)", at: rp)
            #expect(found["canonical_sub"] == nil || found["canonical_sub"] == .string("\(ada.userID)"), "\(found)")
        }
        try expectSubject(of: beas, at: shop, is: bea.userID)
        let session = scene.client.send(.post, "/api/v1/auth/apple/session", app.proof("ada"))
        #expect(session["user"]?["id"]?.integer == ada.userID)
        for phone in [ada, bea] {
            let identities = scene.client.send(
                .get, "/api/v1/me/connected_identities", token: try reopened(phone).token)
            #expect(identities["connected_identities"]?.array?.count == 1)
        }
    }

    /// The phone keeps the secret that it has, whoever rotated it.
    @Test func devicesKeepTheirSecrets() throws {
        let merge = try merge()
        let meanwhile = try reopened(ada)
        #expect(meanwhile.userID == bea.userID)
        // A sign-in rotates the secret.
        let rotated = try Phone(
            scene.client.send(
                .post, "/api/v1/auth/apple/session",
                app.proof("ada").adding([
                    "device_uuid": .string(ada.uuid), "platform": "ios", "device_secret": .string(ada.secret),
                ])))
        #expect(rotated.userID == bea.userID && rotated.deviceID == ada.deviceID && rotated.secret != ada.secret)
        let last = try reopened(rotated)
        #expect(try app.count("SELECT COUNT(*) FROM devices WHERE live_paks IS NOT NULL") > 0)
        try app.undo(merge)
        for token in [ada.token, meanwhile.token, rotated.token, last.token] {
            #expect(scene.client.send(.get, "/api/v1/me", token: token).status == 401)
        }
        #expect(try app.database.connect().livePAKProblems() == [])
        #expect(user(bea.token) == bea.userID)
        #expect(try reopened(rotated).userID == ada.userID)
    }

    @Test func whatBeganSinceUnderItsGrantsEnds() throws {
        let before = try scene.signIn(club, as: ada)
        let merge = try merge()
        let phone = try reopened(ada)
        let since = try scene.signIn(club, as: phone)
        #expect(try since.idClaims["sub"] == .string("\(ada.userID)"), "the moved grant is used")
        let code = try scene.code(club, as: phone)
        let own = try scene.signIn(shop, as: phone)
        let last = try app.count("SELECT COALESCE(MAX(id), 0) FROM webhook_outbox")
        try app.undo(merge)
        expectEnded(since, at: club)
        #expect(scene.exchange(code, by: club).error == "invalid_grant")
        try expectSubject(of: before, at: club, is: ada.userID)
        // At a relying party that only knew the survivor nothing ends.
        try expectSubject(of: own, at: shop, is: bea.userID)
        let events = try app.column("SELECT event_type FROM webhook_outbox WHERE id > ? ORDER BY id", last)
        #expect(events.sorted() == ["token.revoked", "user.unlinked", "user.unlinked"])
        let revoked = try #require(try app.events(at: club.id).first { $0.hasPrefix("token.revoked") })
        #expect(
            try JSONValue(json: Array(revoked.dropFirst("token.revoked ".count).utf8)) == [
                "sub": .string("\(ada.userID)"), "canonical_sub": .string("\(ada.userID)"), "reason": "operator",
            ])
        let logouts = try app.column("SELECT CONCAT(application_id, ' ', sub) FROM logout_tokens")
        #expect(logouts == ["\(club.id) \(ada.userID)"])
    }

    /// On a machine whose clock is behind it began before the merge.
    @Test func whatBeganSinceByAnotherClockEnds() throws {
        app.time.advance(by: .seconds(60))
        let before = try scene.signIn(club, as: ada)
        let merge = try merge()
        app.time.advance(by: .seconds(-30))
        let since = try scene.signIn(club, as: try reopened(ada))
        app.time.advance(by: .seconds(30))
        try app.undo(merge)
        expectEnded(since, at: club)
        try expectSubject(of: before, at: club, is: ada.userID)
    }

    @Test func relyingPartiesAreTold() throws {
        let untold = try scene.register("Untold")
        _ = try scene.signIn(club, as: ada)
        for phone in [ada, bea] { _ = try scene.signIn(shop, as: phone) }
        let theirs = try scene.register("Survivor's")
        _ = try scene.signIn(theirs, as: bea)
        let merge = try merge()
        guard case .merge(let link) = merge else { return }
        try app.undo(merge)
        func told(_ rp: TestClient) throws -> [JSONValue] {
            try app.events(at: rp.id).filter { $0.hasPrefix("user.unlinked ") }.map {
                try JSONValue(json: Array($0.dropFirst("user.unlinked ".count).utf8))
            }
        }
        func event(_ subs: [JSONValue]) -> JSONValue {
            [
                "survivor_canonical_sub": .string("\(bea.userID)"), "unlinked_canonical_sub": .string("\(ada.userID)"),
                "linked_subs": .array(subs), "identity_link_id": .integer(link.rawValue),
            ]
        }
        for rp in [shop, club] { #expect(try told(rp) == [event([.string("\(ada.userID)")])]) }
        #expect(try told(theirs) == [event([])])
        #expect(try told(untold) == [])
    }

    /// A name is what it is byte by byte, however it looks.
    @Test func aNameThatLooksTheSame() throws {
        try app.change("UPDATE users SET name = IF(id = ?, ?, NULL)", ada.userID, "Ade\u{301}")
        let merge = try merge()
        #expect(try app.column("SELECT HEX(name) FROM users WHERE id = ?", bea.userID) == ["416465CC81"])
        try app.change("UPDATE users SET name = ? WHERE id = ?", "Ad\u{E9}", bea.userID)
        let undone = try app.undo(merge, keepingChanged: true)
        #expect(undone.kept == [UndoConflict(table: "users", key: "\(bea.userID) name", reason: .changed)])
        #expect(try app.column("SELECT HEX(name) FROM users WHERE id = ?", bea.userID) == ["4164C3A9"])
    }

    @Test func itIsAudited() throws {
        let merge = try merge()
        let last = try app.count("SELECT COALESCE(MAX(id), 0) FROM audit_log")
        _ = try app.undo(merge, isRehearsal: true)
        #expect(try app.count("SELECT COALESCE(MAX(id), 0) FROM audit_log") == last)
        try app.undo(merge)
        let users = try app.column(
            """
            SELECT CONCAT(user_id) FROM audit_log
            WHERE id > ? AND action = 'user.unlinked' AND actor = 'operator' ORDER BY user_id
            """, last)
        #expect(users == ["\(ada.userID)", "\(bea.userID)"])
    }

    // MARK: A swap

    @Test func aSwappedAccountReturns() throws {
        let anonymous = try scene.anonymous()
        let (moved, dropped) = (try scene.signIn(shop, as: anonymous), try scene.signIn(club, as: anonymous))
        // Another phone of the same account.
        let second = "ds_of-another-phone"
        try app.change(
            """
            INSERT INTO devices (user_id, device_uuid, platform, secret_digest) VALUES (?, ?, 'ios', UNHEX(SHA2(?, 256)))
            """, anonymous.userID, uuid(77), second)
        let before = try app.column("SELECT CONCAT_WS(' ', id, anonymous, created_at) FROM users ORDER BY id")
        let (swap, phone) = try swap(anonymous, rps: [shop])
        #expect(phone.userID == bea.userID && phone.deviceID == anonymous.deviceID)
        let since = try scene.signIn(shop, as: phone)
        try app.undo(swap)
        #expect(try app.column("SELECT CONCAT_WS(' ', id, anonymous, created_at) FROM users ORDER BY id") == before)
        for token in [anonymous.token, phone.token] {
            #expect(scene.client.send(.get, "/api/v1/me", token: token).status == 401)
        }
        // The secret is the one that the phone has from the swap.
        let refused = scene.client.send(
            .post, "/api/v1/devices",
            ["device_uuid": .string(anonymous.uuid), "platform": "ios", "device_secret": .string(anonymous.secret)])
        #expect(refused.status == 401 || refused["user"]?["id"]?.integer != anonymous.userID, "\(refused)")
        #expect(try reopened(phone).userID == anonymous.userID)
        var other = phone
        (other.uuid, other.secret) = (uuid(77), second)
        #expect(try reopened(other).userID == anonymous.userID)
        #expect(user(bea.token) == bea.userID)

        try expectSubject(of: moved, at: shop, is: anonymous.userID)
        expectEnded(since, at: shop)
        #expect(scene.refresh(dropped.refresh, by: club).error == "invalid_grant")
        // It signs in there again, under the same name.
        let again = try scene.signIn(club, as: try reopened(phone))
        #expect(try again.idClaims["sub"] == .string("\(anonymous.userID)"))
        #expect(try app.count("SELECT COUNT(*) FROM absorbed_subs") == 0)
    }

    /// Somebody else approved a request, and is gone since.
    @Test func anApproverWhoIsGone() throws {
        let anonymous = try scene.anonymous()
        let other = try scene.anonymous()
        for approver in [other.userID, anonymous.userID] {
            try app.change(
                """
                INSERT INTO push_approval_requests (requested_user_id, approved_user_id, status, expires_at)
                VALUES (?, ?, 'approved', ?)
                """, anonymous.userID, approver, app.time.now)
        }
        let answer = scene.client.send(
            .post, "/api/v1/me/anonymous_swap",
            app.proof("bea").adding(["provider": "apple", "merge_options": ["notifications": false]]),
            token: anonymous.token)
        try #require(answer.status == 200, "\(answer)")
        #expect(try app.count("SELECT COUNT(*) FROM push_approval_requests") == 0)
        try app.change("DELETE FROM users WHERE id = ?", other.userID)
        try app.undo(app.newestSwap())
        let approvers = try app.column("SELECT CONCAT(approved_user_id) FROM push_approval_requests ORDER BY id")
        #expect(approvers == ["NULL", "\(anonymous.userID)"])
    }

    @Test func anotherSwapAfterTheUndo() throws {
        let anonymous = try scene.anonymous()
        let (first, phone) = try swap(anonymous)
        try app.undo(first)
        let (second, again) = try swap(try reopened(phone))
        #expect(again.userID == bea.userID)
        try app.undo(second)
        #expect(try reopened(again).userID == anonymous.userID)
    }

    /// What the swapped account becomes afterwards is its own.
    @Test func aReturnedAccountIsPromoted() throws {
        let (swap, phone) = try swap(try scene.anonymous())
        try app.undo(swap)
        let returned = try reopened(phone)
        try scene.promote(returned, subject: "ann")
        #expect(try scene.client.signIn(app.proof("ann"), on: 99).userID == returned.userID)
    }
}
