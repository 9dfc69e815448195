import HTTP
import IdentityTokens
import JSON
import Testing

/// `GET` and `DELETE /api/v1/me/connected_identities` (accounts §1.8).
@Suite struct UnlinkTests {
    let app: TestApp
    let client: Client
    /// An account with an Apple and a Google identity.
    let phone: Phone

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.signIn(app.proof("a", email: "ada@icloud.com"), on: 1)
        try link(app.proof("g", of: .google, email: "Ada@gmail.com"))
    }

    private func link(_ proof: JSONValue) throws {
        let answer = client.send(
            .post, "/api/v1/me/connected_identities", proof.adding(["provider": "google"]), token: phone.token)
        try #require(answer.status == 200)
    }

    private func unlink(_ provider: String) -> Answer {
        client.send(.delete, "/api/v1/me/connected_identities/\(provider)", token: phone.token)
    }

    private var loginEmails: [String] {
        get throws { try app.column("SELECT login_email FROM users ORDER BY id") }
    }

    @Test func identitiesAreListed() throws {
        try app.change("UPDATE identities SET email = 'x@device.internal' WHERE provider = 'google'")
        #expect(
            client.send(.get, "/api/v1/me/connected_identities", token: phone.token).text == """
                {"connected_identities":[\
                {"provider":"apple","email":"ada@icloud.com","linked_at":"2026-05-12T07:00:00Z"},\
                {"provider":"google","email":null,"linked_at":"2026-05-12T07:00:00Z"}]}
                """)
    }

    @Test func anAnonymousUserHasNone() throws {
        let other = try client.bootstrap(2)
        let answer = client.send(.get, "/api/v1/me/connected_identities", token: other.token)
        #expect(answer.text == #"{"connected_identities":[]}"#)
    }

    @Test func theProvidersIdentitiesGo() throws {
        // Several of one provider, as a merge leaves them.
        try app.change(
            "INSERT INTO identities (user_id, provider, sub) VALUES (?, 'google', 'other')", phone.userID)
        let answer = unlink("google")
        #expect(
            "\(answer)" == """
                200 {"user":{"id":\(phone.userID),"contact_email":"ada@icloud.com","name":null,"anonymous":false},\
                "connected_identities":[{"provider":"apple","email":"ada@icloud.com",\
                "linked_at":"2026-05-12T07:00:00Z"}]}
                """)
        #expect(try app.column("SELECT sub FROM identities") == ["a"])
        #expect(client.send(.get, "/api/v1/me", token: phone.token).status == 200)
    }

    @Test func whatIsNotConnectedIsNotFound() throws {
        _ = unlink("google")
        let other = try client.bootstrap(2)
        try app.expectUnchanged {
            for provider in ["google", "facebook", "Apple", "apple ", "%"] {
                #expect("\(unlink(provider))" == refusal(404, "identity_not_connected"), "\(provider)")
            }
            let answer = client.send(.delete, "/api/v1/me/connected_identities/apple", token: other.token)
            #expect("\(answer)" == refusal(404, "identity_not_connected"))
        }
    }

    @Test func theLastIdentityStays() throws {
        _ = unlink("google")
        try app.expectUnchanged { #expect("\(unlink("apple"))" == refusal(422, "last_identity")) }
    }

    // MARK: The sign-in address

    @Test func theAddressGoesWithTheIdentityThatVerifiedIt() throws {
        #expect(try loginEmails == ["ada@icloud.com"])
        #expect(unlink("apple").status == 200)
        #expect(try loginEmails == ["NULL"])
        // Otherwise this would find the account again.
        let again = try client.signIn(app.proof("a", email: "ada@icloud.com"), on: 2)
        #expect(again.userID != phone.userID)
    }

    @Test(arguments: [
        // Verified by another identity, in another spelling; not verified by it; not the removed one's address.
        (email: "ADA@iCloud.com", verified: true, removed: "apple", stays: true),
        (email: "ada@icloud.com", verified: false, removed: "apple", stays: false),
        (email: "ada@gmail.com", verified: true, removed: "google", stays: true),
        (email: "ada@icloud.com", verified: false, removed: "google", stays: true),
    ])
    func anAddressThatIsStillVouchedForStays(email: String, verified: Bool, removed: String, stays: Bool) throws {
        try app.change("UPDATE identities SET email = ?, email_verified = ? WHERE provider = 'google'", email, verified)
        #expect(unlink(removed).status == 200)
        #expect(try loginEmails == [stays ? "ada@icloud.com" : "NULL"])
    }

    @Test func anAbsorbedUsersAddressGoesToo() throws {
        let absorbed = try client.signIn(app.proof("x", of: .google, email: "x@gmail.com"), with: "google", on: 2)
        let stranger = try client.signIn(app.proof("y", of: .google, email: "y@gmail.com"), with: "google", on: 3)
        try app.absorb(absorbed.userID, into: phone.userID)
        try app.change("UPDATE identities SET user_id = ? WHERE user_id = ?", phone.userID, absorbed.userID)
        #expect(unlink("google").status == 200)
        #expect(try loginEmails == ["ada@icloud.com", "NULL", "y@gmail.com"])
        #expect(client.send(.get, "/api/v1/me", token: stranger.token).status == 200)
    }

    @Test func theContactAddressStays() {
        #expect(unlink("apple")["user"]?["contact_email"] == "ada@icloud.com")
    }
}
