import Accounts
import HTTP
import IdentityTokens
import JSON
import Testing

/// Finding the account of a sign-in by its verified e-mail (accounts §1.6, resolution 2).
@Suite struct SessionEmailTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    struct SignIn: CustomTestStringConvertible {
        var provider: Provider
        var email: String
        var verified: JSONValue? = true
        var extra: [String: JSONValue] = [:]

        var testDescription: String { "\(provider) \(email) \(verified.map { "\($0)" } ?? "") \(extra)" }
    }

    @Test(arguments: [
        (
            LinkByEmail.authoritative,
            links: [
                SignIn(provider: .apple, email: "@icloud.com"), SignIn(provider: .apple, email: "@me.com"),
                SignIn(provider: .apple, email: "@mac.com"),
                SignIn(provider: .apple, email: "@privaterelay.appleid.com"),
                SignIn(provider: .apple, email: "@ICLOUD.com", verified: "true"),
                SignIn(provider: .google, email: "@gmail.com"), SignIn(provider: .google, email: "@GoogleMail.com"),
                SignIn(provider: .google, email: "@example.com", extra: ["hd": "example.com"]),
                SignIn(provider: .google, email: "@example.com", extra: ["hd": "Example.com"]),
            ],
            others: [
                SignIn(provider: .apple, email: "@example.com"), SignIn(provider: .apple, email: "@gmail.com"),
                SignIn(provider: .apple, email: "@sub.icloud.com"), SignIn(provider: .apple, email: "@icloud.com.evil"),
                SignIn(provider: .apple, email: "@example.com", extra: ["hd": "example.com"]),
                SignIn(provider: .apple, email: "@icloud.com", verified: false),
                SignIn(provider: .apple, email: "@icloud.com", verified: "false"),
                SignIn(provider: .apple, email: "@icloud.com", verified: nil),
                SignIn(provider: .apple, email: "@icloud.com", verified: 1),
                SignIn(provider: .google, email: "@icloud.com"), SignIn(provider: .google, email: "@example.com"),
                SignIn(provider: .google, email: "@example.com", extra: ["hd": "other.example.com"]),
                SignIn(provider: .google, email: "@gmail.com", verified: false),
            ]
        ),
        (
            .verified,
            links: [
                SignIn(provider: .apple, email: "@example.com"), SignIn(provider: .google, email: "@icloud.com"),
            ],
            others: [SignIn(provider: .apple, email: "@icloud.com", verified: false)]
        ),
        (
            .never, links: [],
            others: [SignIn(provider: .apple, email: "@icloud.com"), SignIn(provider: .google, email: "@gmail.com")]
        ),
    ])
    func aVerifiedAddressLinksWhereTheProviderHasTheLastWord(
        _ setting: LinkByEmail, links: [SignIn], others: [SignIn]
    ) throws {
        let app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, linkByEmail: setting))
        let client = app.client()
        for (number, signIn) in (links + others).enumerated() {
            // The other provider's word for the same address, in another spelling.
            let email = "ada\(number)" + signIn.email
            let first: Provider = signIn.provider == .apple ? .google : .apple
            let owner = try client.signIn(
                app.proof("first \(number)", of: first, email: email.lowercased()), with: first.rawValue, on: number * 2
            )
            // As after a word of a provider that has the last one.
            try app.change("UPDATE users SET login_email_authoritative = TRUE WHERE login_email IS NOT NULL")
            let other = try client.signIn(
                app.proof(
                    "second \(number)", of: signIn.provider, email: email, emailVerified: signIn.verified,
                    extra: signIn.extra),
                with: signIn.provider.rawValue, on: number * 2 + 1)
            #expect((other.userID == owner.userID) == (number < links.count), "\(signIn.testDescription)")
            let identities = try app.column("SELECT provider FROM identities WHERE user_id = ?", owner.userID)
            #expect(identities.count == (number < links.count ? 2 : 1), "\(signIn.testDescription)")
        }
    }

    @Test(arguments: [
        (Provider.apple, "ada@icloud.com"), (Provider.google, "ada@gmail.com"),
    ])
    func anotherIdentityOfTheProviderStandsInTheWay(_ provider: Provider, _ email: String) throws {
        let first = app.proof("first", of: provider, email: email)
        let phone = try client.signIn(first, with: provider.rawValue, on: 1)
        try app.expectOnlyRefusals(1, of: phone.userID) {
            let answer = client.send(
                .post, "/auth/\(provider.rawValue)/session", app.proof("second", of: provider, email: email))
            #expect("\(answer)" == refusal(422, "email_linked_to_other_\(provider.rawValue)_account"))
        }
    }

    @Test func theIdentityComesBeforeTheAddress() throws {
        let one = try client.signIn(app.proof("one", email: "one@icloud.com"), on: 1)
        _ = try client.signIn(
            app.proof("two", of: .google, email: "two@gmail.com"), with: "google", on: 2)
        let again = try client.signIn(app.proof("one", email: "two@gmail.com"), on: 3)
        #expect(again.userID == one.userID)
    }

    @Test func anAbsorbedUsersAddressLeadsToTheSurvivor() throws {
        let vouching: [String: JSONValue] = ["hd": "icloud.com"]
        let absorbed = try client.signIn(
            app.proof("1", of: .google, email: "ada@icloud.com", extra: vouching), with: "google", on: 1)
        let survivor = try client.signIn(app.proof("2", of: .google), with: "google", on: 2)
        try app.absorb(absorbed.userID, into: survivor.userID)
        let phone = try client.signIn(app.proof("3", email: "ada@icloud.com"), on: 3)
        #expect(phone.userID == survivor.userID)
        #expect(try app.column("SELECT CONCAT(user_id) FROM identities WHERE sub = '3'") == ["\(survivor.userID)"])

        try app.change(
            "UPDATE users SET deleted_at = NOW(), purge_at = '2026-06-01 07:00:00' WHERE id = ?", survivor.userID)
        try app.change("DELETE FROM identities WHERE sub = '3'")
        try app.expectOnlyRefusals(1, of: survivor.userID) {
            let answer = client.send(.post, "/auth/apple/session", app.proof("3", email: "ada@icloud.com"))
            #expect("\(answer)" == #"422 {"error":"account_deleted","purge_at":"2026-06-01T07:00:00Z"}"#)
        }
    }

    @Test func aDeletedUsersAddressIsNobodys() throws {
        let deleted = try client.signIn(app.proof("1", of: .google, email: "ada@icloud.com"), with: "google", on: 1)
        try app.change("UPDATE users SET deleted_at = NOW()")
        let phone = try client.signIn(app.proof("2", email: "ada@icloud.com"), on: 2)
        #expect(phone.userID != deleted.userID)
    }

    @Test func aSyntheticAddressIsNobodys() throws {
        let imported = try client.signIn(app.proof("1", of: .google), with: "google", on: 1)
        try app.change("UPDATE users SET login_email = 'ada@device.internal'")
        let trusting = try TestApp(
            settings: AccountsSettings(issuer: TestApp.issuer, linkByEmail: .verified), database: app.database)
        let answer = trusting.client().send(
            .post, "/auth/apple/session", trusting.proof("2", email: "ada@device.internal"))
        #expect(answer.status == 200)
        #expect(answer["user"]?["id"]?.integer != imported.userID)
        #expect(answer["user"]?["contact_email"] == .null)
    }

    @Test func anAnonymousOwnerOfTheAddressIsPromoted() throws {
        let phone = try client.bootstrap()
        try app.change("UPDATE users SET login_email = 'ada@icloud.com', login_email_authoritative = TRUE")
        let answer = client.send(.post, "/auth/apple/session", app.proof(email: "ada@icloud.com"))
        #expect(answer["user"]?["id"]?.integer == phone.userID)
        #expect(answer["user"]?["anonymous"] == false)
        #expect(client.send(.get, "/api/v1/me", token: phone.token).status == 401)
    }
}
