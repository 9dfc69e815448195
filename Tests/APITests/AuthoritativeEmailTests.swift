import Accounts
import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import Testing

/// A sign-in finds an account by its address only after a provider that is authoritative for the address has vouched
/// for it (accounts §1.6).
@Suite struct AuthoritativeEmailTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private static let address = "new@corp.example"
    private static let link = "/api/v1/me/connected_identities"
    /// Google is authoritative for the addresses of its customers' domains.
    private static let vouching: [String: JSONValue] = ["hd": "corp.example"]

    private func google(
        _ subject: String = "g", _ email: String = address, extra: [String: JSONValue] = vouching
    ) -> JSONValue { app.proof(subject, of: .google, email: email, extra: extra) }

    private func signIn(_ proof: JSONValue, with provider: Provider, on number: Int) throws -> Phone {
        try client.signIn(proof, with: provider.rawValue, on: number)
    }

    /// The address of each user and whether it was vouched for.
    private func addresses() throws -> [String] {
        try app.column(
            "SELECT CONCAT(COALESCE(login_email, 'NULL'), ' ', login_email_authoritative) FROM users ORDER BY id")
    }

    @Test func whoTookAnAddressDoesNotGetItsOwner() throws {
        let squatter = try signIn(app.proof("a", email: Self.address), with: .apple, on: 1)
        let owner = try signIn(google(), with: .google, on: 2)
        #expect(owner.userID != squatter.userID)
        #expect(try addresses() == ["\(Self.address) 0", "NULL 0"])
        // Nor does the owner, who comes again, change that.
        #expect(try signIn(google(), with: .google, on: 3).userID == owner.userID)
        #expect(try addresses() == ["\(Self.address) 0", "NULL 0"])
        // Each is found by its identity.
        #expect(try signIn(app.proof("a", email: Self.address), with: .apple, on: 4).userID == squatter.userID)
    }

    @Test func norInABrowser() throws {
        let scene = try OAuthScene()
        let squatter = try scene.person("a", email: Self.address)
        let browser = TestBrowser(scene.app)
        browser.open(scene.authorizePath(try scene.register()))
        let trip = try browser.setOut(to: .google)
        let token = scene.app.token(for: trip, "g", email: Self.address, extra: Self.vouching)
        try browser.comeBack(trip, [("id_token", token)])
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        #expect(try scene.app.count("SELECT COUNT(*) FROM web_sessions WHERE user_id = ?", squatter.userID) == 0)
    }

    @Test func whoeverWasVouchedForIsFound() throws {
        let owner = try signIn(google("g", "ada@icloud.com", extra: ["hd": "icloud.com"]), with: .google, on: 1)
        #expect(try addresses() == ["ada@icloud.com 1"])
        #expect(try signIn(app.proof("a", email: "Ada@iCloud.com"), with: .apple, on: 2).userID == owner.userID)
    }

    @Test(arguments: [
        (LinkByEmail.authoritative, tokenVouches: true, rowVouches: false, links: false),
        (.authoritative, tokenVouches: false, rowVouches: true, links: false),
        (.authoritative, tokenVouches: true, rowVouches: true, links: true),
        (.verified, tokenVouches: true, rowVouches: false, links: true),
        (.verified, tokenVouches: false, rowVouches: false, links: true),
        (.never, tokenVouches: true, rowVouches: true, links: false),
    ])
    func theSettingWidensAndCloses(_ setting: LinkByEmail, tokenVouches: Bool, rowVouches: Bool, links: Bool) throws {
        let app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, linkByEmail: setting))
        let client = app.client()
        let owner = try client.signIn(app.proof("a", email: Self.address), on: 1)
        try app.change("UPDATE users SET login_email_authoritative = ?", rowVouches)
        let other = try client.signIn(
            app.proof("g", of: .google, email: Self.address, extra: tokenVouches ? Self.vouching : [:]),
            with: "google", on: 2)
        #expect((other.userID == owner.userID) == links)
    }

    // MARK: Raising

    @Test func aLinkedIdentityRaisesIt() throws {
        let phone = try signIn(app.proof("a", email: Self.address), with: .apple, on: 1)
        let answer = client.send(.post, Self.link, google().adding(["provider": "google"]), token: phone.token)
        try #require(answer.status == 200)
        #expect(try addresses() == ["\(Self.address) 1"])

        // What only the removed identity said goes with it; what the other one said stays.
        #expect(client.send(.delete, Self.link + "/google", token: phone.token).status == 200)
        #expect(try addresses() == ["\(Self.address) 0"])
        #expect(try signIn(google(), with: .google, on: 2).userID != phone.userID)
    }

    @Test func theIdentityThatDidNotVouchTakesNothingAlong() throws {
        let phone = try signIn(app.proof("a", email: Self.address), with: .apple, on: 1)
        _ = client.send(.post, Self.link, google().adding(["provider": "google"]), token: phone.token)
        #expect(client.send(.delete, Self.link + "/apple", token: phone.token).status == 200)
        #expect(try addresses() == ["\(Self.address) 1"])
    }

    @Test func aLaterTokenRaisesItAndNothingElse() throws {
        let phone = try signIn(google(extra: [:]), with: .google, on: 1)
        #expect(try addresses() == ["\(Self.address) 0"])
        // Of another address, of one not verified, of a stranger to the address: nothing.
        for (number, proof) in [
            google("g", "other@corp.example"),
            app.proof("g", of: .google, email: Self.address, emailVerified: false, extra: Self.vouching),
            google(extra: ["hd": "other.example"]),
        ].enumerated() {
            _ = try signIn(proof, with: .google, on: number + 2)
            #expect(try addresses() == ["\(Self.address) 0"])
        }
        _ = try signIn(google("g", "NEW@corp.example"), with: .google, on: 9)
        #expect(try addresses() == ["\(Self.address) 1"])
        // A lesser word takes nothing back.
        _ = try signIn(google(extra: [:]), with: .google, on: 9)
        #expect(try addresses() == ["\(Self.address) 1"])

        let apple = app.proof("a", email: Self.address).adding(["provider": "apple"])
        #expect(client.send(.post, Self.link, apple, token: phone.token).status == 200)
        #expect(client.send(.delete, Self.link + "/google", token: phone.token).status == 200)
        #expect(try addresses() == ["\(Self.address) 0"])
    }

    /// The identity was linked with another address, and has vouched for this one since.
    @Test func whatAnIdentityVouchedForLaterGoesWithIt() throws {
        let phone = try signIn(app.proof("g", of: .google), with: .google, on: 1)
        _ = try signIn(google(), with: .google, on: 1)
        #expect(try addresses() == ["\(Self.address) 1"])
        let reopened = try client.signIn(google(), with: "google", on: 1)
        let apple = app.proof("a").adding(["provider": "apple"])
        #expect(client.send(.post, Self.link, apple, token: reopened.token).status == 200)
        #expect(client.send(.delete, Self.link + "/google", token: reopened.token).status == 200)
        #expect(try addresses() == ["NULL 0"])
        #expect(try signIn(google(), with: .google, on: 2).userID != phone.userID)
    }

    @Test func anAbsorbedUsersAddressIsRaised() throws {
        let absorbed = try signIn(app.proof("a", email: Self.address), with: .apple, on: 1)
        let survivor = try signIn(app.proof("g", of: .google, email: "g@gmail.com"), with: .google, on: 2)
        try app.absorb(absorbed.userID, into: survivor.userID)
        _ = try signIn(google(), with: .google, on: 3)
        #expect(try addresses() == ["\(Self.address) 1", "g@gmail.com 1"])
    }

    /// The identity vouched for the survivor's address, then for the absorbed account's. After the unlinking, neither
    /// counts as vouched for.
    @Test func whatAnIdentityVouchedForEarlierIsLoweredWithIt() throws {
        let absorbed = try signIn(app.proof("a", email: Self.address), with: .apple, on: 1)
        let survivor = try signIn(google("g", "first@corp.example"), with: .google, on: 2)
        try app.absorb(absorbed.userID, into: survivor.userID)
        let signedIn = try signIn(google(), with: .google, on: 2)
        #expect(try addresses() == ["\(Self.address) 1", "first@corp.example 1"])
        let apple = app.proof("b").adding(["provider": "apple"])
        #expect(client.send(.post, Self.link, apple, token: signedIn.token).status == 200)
        #expect(client.send(.delete, Self.link + "/google", token: signedIn.token).status == 200)
        let left = try addresses()
        #expect(left.allSatisfy { !$0.hasSuffix(" 1") }, "\(left)")
    }

    // MARK: At once

    /// A squatter registers the address while its owner signs in. In either order they get two accounts, and one of
    /// them has the address.
    @Test func aSquatterAndTheOwnerAtOnce() throws {
        let rounds = 20
        let answers = app.race(2, rounds: rounds) { [app] client, thread, round in
            let email = "\(round)@corp.example"
            return thread == 0
                ? client.send(.post, "/auth/apple/session", app.proof("a\(round)", email: email))
                : client.send(
                    .post, "/auth/google/session",
                    app.proof("g\(round)", of: .google, email: email, extra: Self.vouching))
        }
        for answers in answers {
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers)")
            #expect(Set(answers.map { $0["user"]?["id"]?.integer }).count == 2)
        }
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE login_email IS NOT NULL") == rounds)
        // Vouched for, exactly where the owner has it.
        let wrong = try app.count(
            """
            SELECT COUNT(*) FROM users u JOIN identities i ON i.user_id = u.id
            WHERE u.login_email IS NOT NULL AND u.login_email_authoritative <> (i.provider = 'google')
            """)
        #expect(wrong == 0)
        #expect(app.statistics.exhaustions.value == 0)
    }

    @Test func theOwnerOnManyDevicesAtOnce() throws {
        let rounds = 10
        let answers = app.race(6, rounds: rounds) { [app] client, thread, round in
            let provider: Provider = thread % 2 == 0 ? .apple : .google
            return client.send(
                .post, "/auth/\(provider.rawValue)/session",
                app.proof(
                    "\(round)", of: provider, email: "\(round)@icloud.com",
                    extra: provider == .google ? ["hd": "icloud.com"] : [:]))
        }
        for answers in answers {
            #expect(answers.allSatisfy { $0.status == 200 }, "\(answers)")
            #expect(Set(answers.map { $0["user"]?["id"]?.integer }).count == 1)
        }
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE login_email_authoritative") == rounds)
        #expect(try app.count("SELECT COUNT(*) FROM users") == rounds)
    }

    @Test func noRowVouchesForNoAddress() throws {
        _ = try client.bootstrap()
        #expect(throws: MariaDBError.self) { try app.change("UPDATE users SET login_email_authoritative = TRUE") }
    }

    // MARK: Byte for byte

    /// Each pair is equal under Unicode folding, a collation or canonical equivalence.
    @Test(arguments: [
        ("jose.x@bucher.example", "josé.x@bücher.example", "bücher.example"),
        ("mike@kor.example", "mi\u{212A}e@kor.example", "kor.example"),
        ("ada@kor.example", "ada@\u{212A}or.example", "\u{212A}or.example"),
        ("zoë@corp.example", "zoe\u{308}@corp.example", "corp.example"),
        ("ada@corp.example", "ada@corp.example ", "corp.example "),
        ("strasse@corp.example", "straße@corp.example", "corp.example"),
    ])
    func anotherSpellingIsAnotherAddress(_ address: String, _ spelling: String, _ hostedDomain: String) throws {
        let domain = String(address.split(separator: "@")[1])
        let owner = try signIn(google("1", address, extra: ["hd": .string(domain)]), with: .google, on: 1)
        let other = try signIn(google("2", spelling, extra: ["hd": .string(hostedDomain)]), with: .google, on: 2)
        #expect(other.userID != owner.userID)
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE login_email_authoritative") == 2)
    }

    /// Only the domain that the provider hosts, byte for byte.
    @Test(arguments: ["bu\u{308}cher.example", "bucher.example", "BÜCHER.example"])
    func anotherSpellingOfTheDomainIsNotHosted(_ hostedDomain: String) throws {
        _ = try signIn(google("1", "ada@bücher.example", extra: ["hd": .string(hostedDomain)]), with: .google, on: 1)
        #expect(try addresses() == ["ada@bücher.example 0"])
    }
}
