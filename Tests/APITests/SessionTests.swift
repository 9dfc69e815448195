import HTTP
import IdentityTokens
import JSON
import TestSupport
import Testing

/// Signing in with Apple or Google: the request, and whose account it is (accounts §1.6).
@Suite struct SessionTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private func signIn(_ proof: JSONValue, with provider: Provider = .apple) -> Answer {
        client.send(.post, "/api/v1/auth/\(provider.rawValue)/session", proof)
    }

    private func userID(_ answer: Answer) throws -> Int {
        try #require(answer["user"]?["id"]?.integer, "\(answer)")
    }

    // MARK: The request

    @Test func anUnknownProviderIsRefusedBeforeTheBody() throws {
        try app.expectUnchanged {
            for provider in ["facebook", "Apple", "apple ", "{provider}", "ａpple"] {
                for path in ["/api/v1/auth/\(provider)/session", "/auth/\(provider)/session"] {
                    #expect("\(client.send(.post, path, bytes: [0xFF]))" == refusal(422, "unknown_provider"), "\(path)")
                }
            }
        }
    }

    @Test func badRequestsAreRefused() throws {
        let proof = app.proof()
        let device = JSONValue.string(uuid(1))
        let bad: [(KeyValuePairs<String, JSONValue?>, String)] = [
            (["identity_token": ""], refusal(400, "invalid_request")),
            (["identity_token": .null], refusal(400, "invalid_request")),
            (["raw_nonce": ""], refusal(400, "invalid_request")),
            (["raw_nonce": .null], refusal(400, "invalid_request")),
            (["device_uuid": device], refusal(400, "invalid_request")),
            (["platform": "ios"], refusal(400, "invalid_request")),
            (["device_uuid": "x", "platform": "ios"], refusal(400, "invalid_request")),
            (["device_uuid": "", "platform": "ios"], refusal(400, "invalid_request")),
            (["device_uuid": device, "platform": "windows"], refusal(422, "unknown_platform")),
            (["device_uuid": device, "platform": ""], refusal(422, "unknown_platform")),
            (
                ["full_name": ["given_name": .string(String(repeating: "x", count: 201))]],
                refusal(400, "invalid_request")
            ),
        ]
        try app.expectUnchanged {
            for (members, expected) in bad { #expect("\(signIn(proof.adding(members)))" == expected, "\(members)") }
        }
    }

    @Test func everyReasonNotToBelieveATokenIsNamed() throws {
        let issuer = app.issuer(.apple)
        let rsa = TestIssuer.rsa
        let claims = issuer.claims()
        let tokens: [(String, String)] = [
            ("x", "malformed token"), ("a.b.c", "malformed token"),
            (String(repeating: "x", count: 16_385), "malformed token"),
            (TestIssuer.token(header: ["alg": "none", "kid": "rsa"], claims: claims, rsa), "unsupported alg"),
            (issuer.token(kid: "other"), "unknown key"),
            (TestIssuer.token(header: TestIssuer.header(rsa), claims: claims, TestIssuer.otherRSA), "bad signature"),
            (app.issuer(.google).token(), "wrong issuer"), (issuer.token(audience: "other"), "wrong audience"),
            (issuer.token(expiresIn: -60), "expired"), (issuer.token(extra: ["iat": 4_000_000_000]), "not yet valid"),
            (issuer.token(nonce: "other"), "nonce mismatch"),
            (issuer.token(extra: ["nonce": "nonce"]), "nonce mismatch"),
            (issuer.token(subject: ""), "missing sub"),
        ]
        try app.expectUnchanged {
            for (token, reason) in tokens {
                let answer = signIn(["identity_token": .string(token), "raw_nonce": "nonce"])
                #expect("\(answer)" == invalidIdentityToken(reason))
            }
        }
    }

    @Test func withoutKeysNobodyCanTell() throws {
        let app = try TestApp(publishingKeys: false)
        try app.expectUnchanged {
            let answer = app.client().send(.post, "/auth/apple/session", app.proof())
            #expect("\(answer)" == refusal(503, "temporarily_unavailable"))
            #expect(answer.header("Retry-After") == "1")
        }
    }

    // MARK: Resolution by identity

    @Test func theSameIdentityIsTheSameUser() throws {
        let first = try userID(signIn(app.proof("ada")))
        #expect(try userID(signIn(app.proof("ada"))) == first)
        // Subjects are bytes, and each provider's own.
        let others = ["ADA", "ada ", " ada", "ad\u{E1}", "ada\u{301}", "ada\u{0}"].map { signIn(app.proof($0)) }
        let google = signIn(app.proof("ada", of: .google), with: .google)
        #expect(Set(try (others + [google]).map(userID)).union([first]).count == 8)
        #expect(try app.count("SELECT COUNT(*) FROM identities") == 8)
    }

    @Test func anAbsorbedHolderSignsInAsTheSurvivor() throws {
        let absorbed = try userID(signIn(app.proof("ada")))
        let survivor = try userID(signIn(app.proof("grace")))
        try app.absorb(absorbed, into: survivor)
        #expect(try userID(signIn(app.proof("ada"))) == survivor)
    }

    @Test func anAnonymousHolderIsPromoted() throws {
        let phone = try client.bootstrap()
        try app.change("INSERT INTO identities (user_id, provider, sub) VALUES (?, 'apple', 'ada')", phone.userID)
        let answer = signIn(
            app.proof("ada", email: "Ada@example.com").adding(["full_name": ["given_name": "Ada"]]))
        #expect(try userID(answer) == phone.userID)
        #expect(answer["user"]?["anonymous"] == false)
        #expect(answer["user"]?["name"] == "Ada")
        let user = try app.column(
            "SELECT CONCAT_WS(' ', anonymous, previously_anonymous, contact_email, login_email) FROM users")
        #expect(user == ["0 1 Ada@example.com ada@example.com"])
        // No anonymous credential outlives it.
        #expect(client.send(.get, "/api/v1/me", token: phone.token).status == 401)
        #expect(try app.column("SELECT secret_digest FROM devices") == ["NULL"])
        #expect(client.send(.get, "/api/v1/me", token: answer["access_token"]?.string).status == 200)
    }

    @Test func aDeletedUserIsToldUntilWhen() throws {
        let user = try userID(signIn(app.proof("ada", email: "ada@icloud.com")))
        try app.change("UPDATE users SET deleted_at = '2026-05-01', purge_at = '2026-05-31 07:00:00.999'")
        let byIdentity = app.proof("ada")
        try app.expectOnlyRefusals(2, of: user) {
            let expected = #"422 {"error":"account_deleted","purge_at":"2026-05-31T07:00:00Z"}"#
            #expect("\(signIn(byIdentity))" == expected)
            // A device makes no difference.
            let onDevice = byIdentity.adding(["device_uuid": .string(uuid(1)), "platform": "ios"])
            #expect("\(signIn(onDevice))" == expected)
        }
        // Its address is free again.
        let other = try userID(signIn(app.proof("other", email: "ada@icloud.com")))
        #expect(other != user)
        #expect(try app.column("SELECT login_email FROM users WHERE id = ?", other) == ["ada@icloud.com"])
    }

    // MARK: What is filled in

    @Test func aNewUserHasWhatTheTokenTells() throws {
        let cases: [(proof: JSONValue, user: String)] = [
            (app.proof("1"), "NULL NULL"),
            (app.proof("2", email: "Zoë@Example.COM"), "Zoë@Example.COM zoë@example.com"),
            (app.proof("3", email: "a@example.com", emailVerified: "true"), "a@example.com a@example.com"),
            (app.proof("4", email: "b@example.com", emailVerified: false), "NULL NULL"),
            (app.proof("5", email: "b@example.com", emailVerified: "false"), "NULL NULL"),
            (app.proof("6", email: "b@example.com", emailVerified: nil), "NULL NULL"),
            (app.proof("7", email: "A@example.com"), "A@example.com NULL"),
            (app.proof("8", email: "x@device.internal"), "NULL NULL"),
            (app.proof("9", email: "x@INTERNAL"), "NULL NULL"),
            (app.proof("10", email: ""), "NULL NULL"),
        ]
        for (proof, expected) in cases {
            let id = try userID(signIn(proof))
            let user = try app.column(
                """
                SELECT CONCAT(COALESCE(contact_email, 'NULL'), ' ', COALESCE(login_email, 'NULL')) FROM users
                WHERE id = ?
                """, id)
            #expect(user == [expected])
        }
        #expect(try app.count("SELECT COUNT(*) FROM identities WHERE email LIKE '%internal'") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE anonymous OR previously_anonymous") == 0)
    }

    @Test func onlyBlanksAreFilled() throws {
        let name: JSONValue = ["given_name": "Ada", "family_name": "Lovelace"]
        let id = try userID(signIn(app.proof("ada")))
        func signInAgain(_ email: String) throws -> [String] {
            _ = try userID(signIn(app.proof("ada", email: email).adding(["full_name": name])))
            return try app.column("SELECT CONCAT_WS('|', name, contact_email, login_email) FROM users WHERE id = ?", id)
        }
        #expect(try signInAgain("ada@example.com") == ["Ada Lovelace|ada@example.com|ada@example.com"])
        try app.change("UPDATE users SET name = 'Countess', contact_email = 'c@example.com'")
        #expect(try signInAgain("new@example.com") == ["Countess|c@example.com|ada@example.com"])
        try app.change("UPDATE users SET name = '\u{3164}'")
        #expect(try signInAgain("new@example.com") == ["Ada Lovelace|c@example.com|ada@example.com"])
        try app.change("UPDATE users SET name = ' ', contact_email = 'x@y.internal', login_email = NULL")
        #expect(try signInAgain("new@example.com") == ["Ada Lovelace|new@example.com|new@example.com"])
    }

    /// An invalid character in a name does not prevent the sign-in.
    @Test func aNameLosesWhatWouldChangeTheTextAround() throws {
        let name: JSONValue = ["given_name": "\u{202E}Ada\u{0}", "family_name": "Love\u{85}lace\u{2069}"]
        let answer = signIn(app.proof("ada").adding(["full_name": name]))
        #expect(answer["user"]?["name"] == "Ada Love lace")
    }

    @Test func namesAreWrittenTheirWay() throws {
        let names: [(JSONValue, JSONValue)] = [
            (["given_name": "길동", "family_name": "홍"], "홍길동"),
            (["given_name": "Ada", "family_name": "Lovelace"], "Ada Lovelace"),
            (["given_name": " ", "family_name": ""], .null), ([:], .null),
            (["given_name": "\u{3164}", "family_name": "\u{200B} \u{FEFF}"], .null),
            (["given_name": "\u{2060}", "family_name": "Lovelace"], "Lovelace"),
        ]
        for (number, (parts, name)) in names.enumerated() {
            let answer = signIn(app.proof("\(number)").adding(["full_name": parts]))
            #expect(answer["user"]?["name"] == name, "\(parts)")
        }
    }
}
