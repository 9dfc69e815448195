import HTTP
import JOSE
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text

/// Both userinfo paths and the check of access tokens (accounts §2.7 to §2.9).
@Suite struct UserInfoTests {
    let scene: OAuthScene
    let rp: TestClient
    let person: Phone

    static let scopes = [
        "openid", "profile", "profile:basic", "email", "phone", "address", "identity:level", "offline_access",
        "shop:tier", "shop:visits", "shop:missing", "gone:tier",
    ]
    static let paths = ["/oauth/userinfo", "/api/v1/oauth/userinfo"]

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(scopes: Self.scopes.joined(separator: " "))
        person = try scene.person(email: "bea@example.com")
        try scene.app.change(
            """
            UPDATE users SET name = 'Bea Kim', nickname = 'bea', custom_claims = ? WHERE id = ?
            """, #"{"shop":{"tier":"gold","visits":[3],"missing":null},"other":{"x":1}}"#, person.userID)
    }

    private var token: String { get throws { try scene.signIn(rp, as: person, scope: "openid email").access } }

    /// The members besides sub and the five identity claims.
    private func claims(_ scope: String) throws -> JSONValue {
        let answer = scene.userInfo(try scene.signIn(rp, as: person, scope: scope).access)
        #expect(answer.status == 200, "\(answer)")
        #expect(answer["sub"] == .string("\(person.userID)"))
        #expect(answer["canonical_sub"] == .string("\(person.userID)"))
        #expect(answer["is_canonical"] == true)
        #expect(answer["linked_subs"] == [])
        #expect(answer["anonymous"] == false)
        #expect(answer["previously_anonymous"] == false)
        let always = ["sub", "canonical_sub", "is_canonical", "linked_subs", "anonymous", "previously_anonymous"]
        guard case .object(let object) = answer.json else { return .null }
        return .object(JSONObject(object.members.filter { !always.contains($0.name) }.map { ($0.name, $0.value) }))
    }

    @Test(
        arguments: [
            ("openid", [:]), ("offline_access", [:]),
            ("profile:basic", ["preferred_name": "bea", "full_name": "Bea Kim"]),
            ("profile", ["preferred_name": "bea", "full_name": "Bea Kim"]),
            ("email", ["email": "bea@example.com", "email_verified": true]),
            ("phone", [:]), ("address", [:]), ("identity:level", ["identity_verified_level": 1]),
            ("shop:tier", ["shop:tier": "gold"]), ("shop:visits", ["shop:visits": [3]]), ("shop:missing", [:]),
            ("gone:tier", [:]),
            (
                "openid profile email shop:tier",
                [
                    "preferred_name": "bea", "full_name": "Bea Kim", "email": "bea@example.com", "email_verified": true,
                    "shop:tier": "gold",
                ]
            ),
        ] as [(String, JSONValue)])
    func eachScopeGivesItsClaimsAndNoOthers(scope: String, expected: JSONValue) throws {
        #expect(try claims(scope) == expected)
    }

    @Test func whatIsOnFileIsShown() throws {
        try scene.app.change(
            "UPDATE users SET phone_number = '+82 2 312 3456', address = '1 Main St', postal_code = '04524' WHERE id = ?",
            person.userID)
        #expect(try claims("phone") == ["phone_number": "+82 2 312 3456"])
        #expect(try claims("address") == ["address": "1 Main St", "postal_code": "04524"])
        #expect(try claims("identity:level") == ["identity_verified_level": 2])
        try scene.app.change("UPDATE users SET verified_level = 3, address = NULL WHERE id = ?", person.userID)
        #expect(try claims("address") == ["postal_code": "04524"])
        #expect(try claims("identity:level") == ["identity_verified_level": 3])
        try scene.app.change(
            """
            UPDATE users SET verified_level = 0, phone_number = NULL, contact_email = 'typed@example.com',
                             nickname = ' ', name = 'Bea' WHERE id = ?
            """, person.userID)
        #expect(try claims("identity:level") == ["identity_verified_level": 0])
        #expect(try claims("email") == ["email": "typed@example.com", "email_verified": false])
        #expect(try claims("profile") == ["preferred_name": "Bea", "full_name": "Bea"])
        try scene.app.change(
            "UPDATE users SET contact_email = 'x@users.internal', name = NULL WHERE id = ?", person.userID)
        #expect(try claims("email") == [:])
        #expect(try claims("profile") == [:])
    }

    /// An address is verified only if an identity verified exactly that address. A collation or a Unicode folding would
    /// confuse these pairs.
    @Test(arguments: [
        ("jose.x@bucher.example", "josé.x@bücher.example", false),
        ("josé@bücher.example", "jose\u{301}@bücher.example", false),
        ("mike@kor.example", "mi\u{212A}e@kor.example", false), ("ada@kor.example", "ada@\u{212A}or.example", false),
        ("ada@kor.example", "ada@kor.example ", false), ("strasse@x.example", "straße@x.example", false),
        ("İ@x.example", "i\u{307}@x.example", false), ("É@x.example", "é@x.example", false),
        ("ada@kor.example", "ADA@Kor.Example", true), ("Éa@Bü.example", "ÉA@bü.EXAMPLE", true),
        ("a\"\\b@x.example", "a\"\\B@x.example", true),
    ])
    func anAddressIsVerifiedByteForByte(_ verified: String, _ shown: String, _ isVerified: Bool) throws {
        try scene.app.change("UPDATE identities SET email = ?, email_verified = TRUE", verified)
        try scene.app.change("UPDATE users SET contact_email = ?", shown)
        #expect(try claims("email") == ["email": .string(shown), "email_verified": .bool(isVerified)])
        // Nor is one that another identity has, and does not vouch for.
        try scene.app.change("UPDATE identities SET email_verified = FALSE")
        #expect(try claims("email") == ["email": .string(shown), "email_verified": false])
    }

    @Test(arguments: paths, [HTTP.Method.get, .post]) func bothPathsTakeBothMethods(path: String, method: HTTP.Method)
        throws
    {
        let token = try token
        let answer = scene.userInfo(token, method, path: path)
        #expect(answer.text == scene.userInfo(token).text)
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(answer.header("Access-Control-Allow-Origin") == "*")
    }

    private func expectRefused(_ token: String?, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for path in Self.paths {
            let answer = scene.userInfo(token, path: path)
            #expect(
                try answer.oauthRefusal(sourceLocation: sourceLocation) == "401 invalid_token",
                sourceLocation: sourceLocation)
            #expect(
                answer.header("WWW-Authenticate") == #"Bearer error="invalid_token""#, sourceLocation: sourceLocation)
        }
    }

    @Test func onlyTheHeaderIsLookedAt() throws {
        let token = try token
        try expectRefused(nil)
        #expect(scene.client.send(.get, "/oauth/userinfo?access_token=\(token)").status == 401)
        let form = scene.client.send(
            .post, "/oauth/userinfo", bytes: Array("access_token=\(token)".utf8),
            headers: [("content-type", "application/x-www-form-urlencoded")])
        #expect(form.status == 401)
    }

    @Test func otherTokensOpenNothing() throws {
        let tokens = try scene.signIn(rp, as: person, scope: "openid")
        for other in [tokens.refresh, try #require(tokens.id), person.token, "", "x", "a.b.c"] {
            try expectRefused(other)
        }
    }

    @Test func aTokenIsWhatItsSignatureCovers() throws {
        let token = try token
        #expect(scene.userInfo(token).status == 200)
        let parts = token.split(separator: ".").map(String.init)
        let claims = try payload(of: token)
        let jwt = try JWT(token)
        let kid = try #require(jwt.keyID)
        struct Header: Encodable {
            var alg = "RS256"
            var kid: String?
            var typ: String? = "at+jwt"
            var crit: [String]?
        }
        func unsigned(_ header: Header) -> String {
            "\(Base64URL.encode(header.json())).\(parts[1]).\(parts[2])"
        }
        let stranger = Signer(keyID: kid, key: try PrivateKey.generateRSA())
        try expectRefused(unsigned(Header(alg: "none", kid: kid)))
        try expectRefused("\(Base64URL.encode(Header(alg: "none", kid: kid).json())).\(parts[1]).")
        try expectRefused(unsigned(Header(alg: "HS256", kid: kid)))
        try expectRefused(unsigned(Header(kid: nil)))
        try expectRefused(unsigned(Header(kid: "fedcba9876543210")))
        try expectRefused(unsigned(Header(kid: kid, crit: ["exp"])))
        try expectRefused(stranger.sign(claims, type: "at+jwt"))
        try expectRefused(
            "\(parts[0]).\(Base64URL.encode(claims.adding(["scope": "openid email phone"]).json())).\(parts[2])")
        try expectRefused(token + "=")
        try expectRefused(token + String(repeating: "A", count: 16_384))
        // And with the right key, but not what this endpoint takes.
        for (name, value) in [
            ("iss", "https://other.example"), ("iss", "https://id.example/"), ("iss", nil), ("jti", nil),
            ("jti", "AAAA"),
            ("exp", nil), ("exp", "never"), ("client_id", nil), ("scope", nil),
        ] as [(String, JSONValue?)] {
            try expectRefused(try scene.resign(token, [name: value]))
        }
        for type in ["JWT", "approval+jwt", ""] { try expectRefused(try scene.resign(token, [:], type: type)) }
        #expect(scene.userInfo(try scene.resign(token, [:])).status == 200)
    }

    @Test func aTokenLivesFifteenMinutes() throws {
        let token = try token
        scene.app.time.advance(by: .seconds(899))
        #expect(scene.userInfo(token).status == 200)
        scene.app.time.advance(by: .seconds(1))
        try expectRefused(token)
    }

    @Test(arguments: [
        "UPDATE refresh_families SET revoked_at = NOW(3)", "UPDATE grants SET revoked_at = NOW(3)",
        "UPDATE applications SET status = 'suspended'", "UPDATE users SET deleted_at = NOW(3)", "DELETE FROM grants",
    ])
    func itDiesWithWhatItStandsOn(sql: String) throws {
        let token = try token
        _ = try scene.app.database.connect().query(sql)
        try expectRefused(token)
    }

    @Test func itDiesWithItsKey() throws {
        let token = try token
        let keyID = try #require(try JWT(token).keyID)
        try scene.app.generateSigningKey()
        scene.app.time.advance(by: .seconds(30))
        try scene.app.activateSigningKey(isForced: true)
        #expect(scene.userInfo(token).status == 200)
        // As docs/security.md says, of a key that was stolen.
        try scene.app.change(
            "UPDATE signing_keys SET public_jwk = NULL, sealed_private_key = NULL WHERE kid = ?", keyID)
        scene.app.time.advance(by: .seconds(10))
        try expectRefused(token)
    }

    @Test func theClaimsAreThoseOfNow() throws {
        let token = try token
        try scene.app.change("UPDATE users SET contact_email = 'new@example.com' WHERE id = ?", person.userID)
        let other = try scene.person("other")
        #expect(scene.userInfo(token)["email"] == "new@example.com")
        try scene.app.absorb(person.userID, into: other.userID)
        #expect(scene.userInfo(token)["canonical_sub"] == .string("\(other.userID)"))
        #expect(scene.userInfo(token)["sub"] == .string("\(person.userID)"))
    }
}
