import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Time

/// `POST /api/v1/me/connected_identities` (accounts §1.8).
@Suite struct LinkTests {
    let app: TestApp
    let client: Client
    /// An anonymous account.
    let phone: Phone

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.bootstrap()
    }

    private func link(_ proof: JSONValue, _ provider: String? = "apple", token: String) -> Answer {
        client.send(
            .post, "/api/v1/me/connected_identities", proof.adding(["provider": provider.map(JSONValue.string)]),
            token: token)
    }

    private func isLive(_ token: String) -> Bool { client.send(.get, "/api/v1/me", token: token).status == 200 }

    // MARK: The order of checks

    @Test func theProviderComesBeforeTheFieldsAndTheyBeforeTheToken() throws {
        let bad = app.proof().adding(["identity_token": "x"])
        try app.expectUnchanged {
            for provider in [nil, "", "facebook", "Apple"] {
                #expect("\(link([:], provider, token: phone.token))" == refusal(422, "unknown_provider"))
                let wrongType = link(["identity_token": 5], provider, token: phone.token)
                #expect("\(wrongType)" == refusal(422, "unknown_provider"))
            }
            for members: JSONValue in [
                [:], ["identity_token": "x"], ["raw_nonce": "x"], ["identity_token": "", "raw_nonce": "x"],
                ["identity_token": "x", "raw_nonce": ""], ["identity_token": "x", "raw_nonce": "x", "full_name": 5],
            ] {
                #expect("\(link(members, token: phone.token))" == refusal(400, "invalid_request"), "\(members)")
            }
            #expect("\(link(bad, token: phone.token))" == invalidIdentityToken("malformed token"))
            #expect(
                "\(link(app.proof(of: .google), "apple", token: phone.token))" == invalidIdentityToken("wrong issuer"))
        }
    }

    // MARK: Nobody has it

    @Test func anAnonymousCallerIsPromotedInPlace() throws {
        let other = try client.reopen(phone)
        // A second device of the same account, as an import may have left it.
        let second = try client.bootstrap(2)
        try app.change("UPDATE devices SET user_id = ? WHERE id = ?", phone.userID, second.deviceID)
        try app.change("UPDATE paks SET user_id = ? WHERE device_id = ?", phone.userID, second.deviceID)

        let answer = link(
            app.proof(email: "Ada@example.com").adding(["full_name": ["given_name": "Ada"]]), token: phone.token)
        #expect(
            answer.text == """
                {"user":{"id":\(phone.userID),"contact_email":"Ada@example.com","name":"Ada","anonymous":false},\
                "connected_identities":[{"provider":"apple","email":"Ada@example.com",\
                "linked_at":"2026-05-12T07:00:00Z"}]}
                """)
        let user = try app.column(
            "SELECT CONCAT_WS(' ', anonymous, previously_anonymous, login_email) FROM users WHERE id = ?", phone.userID)
        #expect(user == ["0 1 ada@example.com"])
        #expect(isLive(phone.token) && !isLive(other) && !isLive(second.token))
        #expect(
            try app.column("SELECT CONCAT(id) FROM devices WHERE secret_digest IS NULL") == ["\(second.deviceID)"])
        _ = try client.reopen(phone)
        // A session re-secures the other.
        _ = try client.reopen(try client.signIn(app.proof(), on: 2))
    }

    /// What a copy of an anonymous PAK can have obtained before: a proof for a merge, a browser's session, an approved sign-in.
    @Test func whatACopyObtainedEndsWithThePromotion() throws {
        let copy = try client.reopen(phone)
        let thief = try client.signIn(app.proof("thief"), on: 2)
        let proof = client.send(.post, "/api/v1/me/merge/session-token", [:], token: copy)["session_token"]
        try app.change(
            "INSERT INTO web_sessions (digest, user_id, expires_at) VALUES (UNHEX(SHA2('session', 256)), ?, ?)",
            phone.userID, app.time.now + .seconds(3600))
        try app.change(
            """
            INSERT INTO push_approval_requests (requested_user_id, approved_user_id, status, decided_at, expires_at)
            VALUES (?, ?, 'approved', ?, ?), (?, NULL, 'pending', NULL, ?)
            """, phone.userID, phone.userID, app.time.now, app.time.now + .seconds(300), phone.userID,
            app.time.now + .seconds(300))
        #expect(link(app.proof(), token: phone.token).status == 200)
        let merge = client.send(
            .post, "/api/v1/me/merge", ["target_session_token": proof ?? .null], token: thief.token)
        #expect(merge.status == 401, "\(merge)")
        #expect(try app.count("SELECT COUNT(*) FROM web_sessions") == 0)
        #expect(try app.column("SELECT status FROM push_approval_requests") == ["denied", "denied"])
        #expect(isLive(phone.token))
    }

    @Test func aCallerWithoutADeviceKeepsItsPAKAlone() throws {
        try app.change("UPDATE paks SET device_id = NULL")
        #expect(link(app.proof(), token: phone.token).status == 200)
        #expect(isLive(phone.token))
        #expect(try app.column("SELECT secret_digest FROM devices") == ["NULL"])
    }

    @Test func anIdentifiedCallerKeepsItsCredentials() throws {
        let first = try client.signIn(app.proof(), on: 2)
        let other = try client.signIn(app.proof(), on: 3)
        let answer = link(app.proof("g", of: .google, email: "ada@gmail.com"), "google", token: first.token)
        #expect(answer["user"]?["id"]?.integer == first.userID)
        #expect(answer["connected_identities"]?.array?.compactMap { $0["provider"]?.string } == ["apple", "google"])
        #expect(answer["connected_identities"]?.array?.map { $0["email"] } == [.null, "ada@gmail.com"])
        #expect(isLive(first.token) && isLive(other.token))
        _ = try client.reopen(other)
        #expect(
            try app.column("SELECT CONCAT(previously_anonymous) FROM users WHERE id = ?", first.userID) == ["0"])
    }

    @Test func onlyBlanksAreFilled() throws {
        try app.change("UPDATE users SET name = 'Countess', contact_email = 'c@example.com'")
        let name: JSONValue = ["given_name": "Ada"]
        let answer = link(app.proof(email: "ada@example.com").adding(["full_name": name]), token: phone.token)
        #expect(answer["user"]?["name"] == "Countess")
        #expect(answer["user"]?["contact_email"] == "c@example.com")
        #expect(try app.column("SELECT login_email FROM users") == ["ada@example.com"])
    }

    @Test func anAddressThatIsTakenOrUnverifiedFillsNothing() throws {
        _ = try client.signIn(app.proof("other", email: "ada@example.com"), on: 2)
        let answer = link(app.proof(email: "ADA@example.com"), token: phone.token)
        #expect(answer["user"]?["contact_email"] == "ADA@example.com")
        let second = try client.bootstrap(3)
        let unverified = link(
            app.proof("third", email: "new@example.com", emailVerified: false), token: second.token)
        #expect(unverified["user"]?["contact_email"] == .null)
        #expect(unverified["connected_identities"]?.array?.first?["email"] == "new@example.com")
        let addresses = try app.column("SELECT login_email FROM users WHERE id IN (?, ?)", phone.userID, second.userID)
        #expect(addresses == ["NULL", "NULL"])
    }

    // MARK: Somebody has it

    @Test func theCallersOwnChangesNothing() throws {
        #expect(link(app.proof(), token: phone.token).status == 200)
        let proof = app.proof(email: "ada@example.com").adding(["full_name": ["given_name": "Ada"]])
        try app.expectUnchanged {
            let answer = link(proof, token: phone.token)
            #expect(answer.status == 200)
            #expect(answer["connected_identities"]?.array?.count == 1)
            #expect(answer["user"]?["name"] == .null)
        }
    }

    @Test func anIdentityOfAnAbsorbedUserIsTheSurvivors() throws {
        let survivor = try client.signIn(app.proof("survivor"), on: 2)
        let absorbed = try client.signIn(app.proof("absorbed", of: .google), with: "google", on: 3)
        try app.absorb(absorbed.userID, into: survivor.userID)
        try app.expectUnchanged {
            #expect(link(app.proof("absorbed", of: .google), "google", token: survivor.token).status == 200)
        }
        let refused = link(app.proof("absorbed", of: .google), "google", token: phone.token)
        #expect(refused.status == 409 && refused["swap_ticket"] != nil)
    }

    @Test func aSecondOfTheSameProviderIsRefused() throws {
        _ = link(app.proof(), token: phone.token)
        try app.expectUnchanged {
            #expect("\(link(app.proof("2"), token: phone.token))" == refusal(422, "provider_already_connected"))
        }
    }

    @Test func anotherLiveUsersIsRefused() throws {
        let owner = try client.signIn(app.proof("owned"), on: 2)
        let caller = try client.signIn(app.proof("caller"), on: 3)
        // The owner comes before the caller's own identity of the provider.
        try app.expectUnchanged {
            let answer = link(app.proof("owned"), token: caller.token)
            #expect("\(answer)" == refusal(409, "identity_owned_by_another_account"))
        }
        // Between two anonymous users there is nothing to swap.
        try app.change("UPDATE users SET anonymous = TRUE WHERE id = ?", owner.userID)
        try app.expectUnchanged {
            let answer = link(app.proof("owned"), token: phone.token)
            #expect("\(answer)" == refusal(409, "identity_owned_by_another_account"))
        }
    }

    @Test func anAnonymousCallerGetsATicketForTheSwap() throws {
        _ = try client.signIn(app.proof("owned"), on: 2)
        let before = try app.database.dump()
        let answer = link(app.proof("owned"), token: phone.token)
        let ticket = try #require(answer["swap_ticket"]?.string)
        #expect(ticket.wholeMatch(of: /swt_[A-Za-z0-9_-]{43}/) != nil)
        #expect(
            "\(answer)" == """
                409 {"error":"identity_owned_by_another_account","swap_ticket":"\(ticket)","expires_in":600}
                """)
        #expect(isLive(phone.token))
        // The ticket is bound to the caller, the provider and the subject, kept as its digest for ten minutes.
        let isStored = try app.count(
            """
            SELECT COUNT(*) FROM swap_tickets WHERE digest = ? AND user_id = ? AND provider = 'apple' AND sub = 'owned'
            AND expires_at = '2026-05-12 07:10:00' AND used_at IS NULL
            """, sha256(ticket.utf8), phone.userID)
        #expect(isStored == 1)
        #expect(try !app.database.dump().contains(ticket))
        try app.change("DELETE FROM swap_tickets")
        #expect(try app.database.dump() == before, "nothing else changed")
    }

    @Test func aDeletedUsersIsReserved() throws {
        let owner = try client.signIn(app.proof("owned"), on: 2)
        try app.change(
            "UPDATE users SET deleted_at = '2026-05-01', purge_at = '2026-05-31 07:00:00' WHERE id = ?", owner.userID)
        try app.expectUnchanged {
            let answer = link(app.proof("owned"), token: phone.token)
            #expect("\(answer)" == #"422 {"error":"account_deleted","purge_at":"2026-05-31T07:00:00Z"}"#)
        }
    }

    /// Nothing is written for one that is known already.
    @Test func theOwnersConsentMovesForwardOnly() throws {
        let owner = try SwapScene(app).identified()
        func consent(by proof: JSONValue) throws -> String? {
            #expect(link(proof, token: phone.token).status == 409)
            return try app.column("SELECT CONCAT(consented_at) FROM identities").first
        }
        let early = app.proof(owner.subject)
        let first = try #require(try consent(by: early))
        app.time.advance(by: .seconds(60))
        let second = try #require(try consent(by: app.proof(owner.subject)))
        #expect(first < second)
        #expect(try consent(by: early) == second)
    }

    // MARK: While the request waits for its user

    private func linking(_ subject: String) -> RepeatableRequest {
        RepeatableRequest(
            method: .post, path: "/api/v1/me/connected_identities",
            body: app.proof(subject).adding(["provider": "apple"]), token: phone.token)
    }

    @Test func aRevokedPAKLinksNothing() throws {
        let answer = try SwapScene(app).send(linking("subject-1"), whileLocked: phone.userID) { db in
            try db.execute("UPDATE paks SET revoked_at = ? WHERE user_id = ?", app.time.now, phone.userID)
        }
        #expect("\(answer)" == refusal(401, "invalid_token"))
        #expect(try app.count("SELECT COUNT(*) FROM identities") == 0)
    }

    /// The account that decides is the one that has the identity by then, and it is locked, too.
    @Test func theIdentityMoves() throws {
        let scene = try SwapScene(app)
        let (before, after) = (try scene.identified(), try scene.identified())
        let answer = try scene.send(linking(before.subject), whileLocked: phone.userID) { db in
            try db.execute("UPDATE identities SET user_id = ? WHERE sub = ?", after.id, before.subject)
            try db.execute("UPDATE users SET deleted_at = ? WHERE id = ?", app.time.now, after.id)
        }
        #expect(answer.status == 422 && answer["error"] == "account_deleted", "\(answer)")
        #expect(app.statistics.retries.value == 1)
    }

    @Test func theIdentityGoes() throws {
        let scene = try SwapScene(app)
        let before = try scene.identified()
        let answer = try scene.send(linking(before.subject), whileLocked: phone.userID) { db in
            try db.execute("DELETE FROM identities WHERE sub = ?", before.subject)
        }
        #expect(answer.status == 200, "\(answer)")
        #expect(try app.column("SELECT CONCAT(user_id) FROM identities") == ["\(phone.userID)"])
    }
}
