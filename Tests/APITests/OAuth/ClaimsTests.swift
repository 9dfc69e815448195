import API
import Accounts
import JOSE
import JSON
import OpenSSL
import TestSupport
import Testing
import Text

/// The claims about a person in both tokens (accounts §2.7), before and after every change of an account.
@Suite struct ClaimsTests {
    let scene: OAuthScene
    let rp: TestClient

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(scopes: "openid profile:basic email shop:tier", anonymous: true)
    }

    /// Sub and the five identity claims. Userinfo has the same claims, and the deployed clients' own structure decodes
    /// both tokens.
    private func identity(_ tokens: Tokens, sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let claims = try tokens.idClaims
        let linked = claims["linked_subs"]?.array?.compactMap(\.string)
        let decoded = try LogiClaims(token: try #require(tokens.id))
        #expect(decoded.sub == claims.subject, sourceLocation: sourceLocation)
        #expect(decoded.linkedSubs == linked, sourceLocation: sourceLocation)
        #expect(decoded.isCanonical == (decoded.sub == decoded.canonicalSub), sourceLocation: sourceLocation)
        #expect(decoded.anonymous.map(JSONValue.bool) == claims["anonymous"], sourceLocation: sourceLocation)
        let access = try LogiClaims(token: tokens.access)
        #expect(access.sub == decoded.sub, sourceLocation: sourceLocation)
        #expect(access.effectiveSub == decoded.effectiveSub, sourceLocation: sourceLocation)
        let userInfo = scene.userInfo(tokens.access)
        for name in ["sub", "canonical_sub", "is_canonical", "linked_subs", "anonymous", "previously_anonymous"] {
            #expect(userInfo[name] == claims[name], "\(name)", sourceLocation: sourceLocation)
        }
        return "\(decoded.sub) of \(decoded.effectiveSub) \(linked ?? [])"
            + (decoded.anonymous == true ? " anonymous" : "")
            + (decoded.previouslyAnonymous == true ? " previously anonymous" : "")
    }

    private func refreshed(_ tokens: Tokens, at other: TestClient? = nil) throws -> Tokens {
        scene.app.time.advance(by: .seconds(60))
        return try Tokens(scene.refresh(tokens.refresh, by: other ?? rp))
    }

    // MARK: The table

    @Test func theIDTokenSaysExactlyThis() throws {
        let person = try scene.person()
        scene.app.time.advance(by: .seconds(77))
        let tokens = try scene.signIn(rp, as: person, scope: "openid", nonce: "n/1+2=")
        let jwt = try JWT(try #require(tokens.id))
        try jwt.verify(with: try scene.app.sql { try scene.app.service.accounts.signingKeys.keySet($0) })
        #expect(jwt.type == "JWT")
        #expect(jwt.algorithm == .rs256)
        #expect(try jwt.keyID == JWT(tokens.access).keyID)
        let sub = JSONValue.string("\(person.userID)")
        #expect(
            try payload(of: try #require(tokens.id)) == [
                "iss": "https://id.example", "aud": .string(rp.clientID), "sub": sub, "exp": 1_778_570_177,
                "iat": 1_778_569_277, "auth_time": 1_778_569_200, "jti": try #require(jwt.claims["jti"]),
                "nonce": "n/1+2=", "at_hash": .string(Base64URL.encode(Array(sha256(tokens.access.utf8).prefix(16)))),
                "canonical_sub": sub, "is_canonical": true, "linked_subs": [], "anonymous": false,
                "previously_anonymous": false,
            ])
    }

    @Test func theAccessTokenSaysExactlyThis() throws {
        let person = try scene.person()
        let tokens = try scene.signIn(rp, as: person, scope: "openid email")
        let jwt = try JWT(tokens.access)
        #expect(jwt.type == "at+jwt")
        let sub = JSONValue.string("\(person.userID)")
        #expect(
            try payload(of: tokens.access) == [
                "iss": "https://id.example", "sub": sub, "aud": .string(rp.clientID),
                "client_id": .string(rp.clientID), "exp": 1_778_570_100, "iat": 1_778_569_200,
                "jti": try #require(jwt.claims["jti"]), "scope": "openid email", "canonical_sub": sub,
            ])
    }

    @Test func aRefreshKeepsTheSignInAndDropsTheNonce() throws {
        let first = try scene.signIn(rp, as: try scene.person(), nonce: "n-1")
        let second = try refreshed(first)
        let (old, new) = (try first.idClaims, try second.idClaims)
        #expect(new["sub"] == old["sub"])
        #expect(new["auth_time"] == old["auth_time"])
        #expect(new["nonce"] == nil)
        #expect(new["jti"] != old["jti"])
        #expect(try second.accessClaims["jti"] != first.accessClaims["jti"])
        #expect(new.numericDate("exp") == old.numericDate("exp").map { $0 + 60 })
        #expect(
            new["at_hash"] == .string(Base64URL.encode(Array(sha256(second.access.utf8).prefix(16)))))
    }

    @Test func aNonceIsThereOnlyIfOneWasSent() throws {
        #expect(try scene.signIn(rp, as: try scene.person()).idClaims["nonce"] == nil)
    }

    @Test func openidIsWhatMakesAnIDToken() throws {
        let tokens = try scene.signIn(rp, as: try scene.person(), scope: "email")
        #expect(tokens.id == nil)
        #expect(try refreshed(tokens).id == nil)
    }

    @Test func emailAndCustomClaimsNeedTheirScopes() throws {
        let person = try scene.person(email: "bea@example.com")
        try scene.app.change(
            "UPDATE users SET custom_claims = ? WHERE id = ?", #"{"shop":{"tier":{"n":1}}}"#, person.userID)
        func claims(_ scope: String) throws -> [JSONValue?] {
            let claims = try scene.signIn(rp, as: person, scope: scope).idClaims
            return [claims["email"], claims["email_verified"], claims["shop:tier"]]
        }
        #expect(try claims("openid profile:basic") == [nil, nil, nil])
        #expect(try claims("openid email shop:tier") == ["bea@example.com", true, ["n": 1]])
        try scene.app.change(
            "UPDATE users SET contact_email = 'typed@example.com', custom_claims = NULL WHERE id = ?", person.userID)
        #expect(try claims("openid email shop:tier") == ["typed@example.com", false, nil])
        try scene.app.change("UPDATE users SET contact_email = ' ' WHERE id = ?", person.userID)
        #expect(try claims("openid email") == [nil, nil, nil])
    }

    // MARK: Link and promotion

    @Test func aPromotedAccountKeepsItsSub() throws {
        let phone = try scene.anonymous()
        let tokens = try scene.signIn(rp, as: phone)
        let id = phone.userID
        #expect(try identity(tokens) == "\(id) of \(id) [] anonymous")
        try scene.promote(phone, email: "ada@example.com")
        let later = try refreshed(tokens)
        #expect(try identity(later) == "\(id) of \(id) [] previously anonymous")
        #expect(try later.idClaims["email"] == "ada@example.com")
        #expect(try identity(scene.signIn(rp, as: phone)) == "\(id) of \(id) [] previously anonymous")
    }

    // MARK: Swap

    @Test func aMovedGrantKeepsItsSubAndItsTokens() throws {
        let (a, b) = (try scene.anonymous(), try scene.person("bea"))
        let elsewhere = try scene.register(anonymous: true)
        let tokens = try scene.signIn(rp, as: a)
        try scene.swap(a, into: "bea")
        let expected = #"\#(a.userID) of \#(b.userID) ["\#(a.userID)"] previously anonymous"#
        #expect(scene.userInfo(tokens.access)["canonical_sub"] == .string("\(b.userID)"))
        #expect(try identity(refreshed(tokens)) == expected)
        // B has no other grant here, so new authorizations use it, too.
        #expect(try identity(scene.signIn(rp, as: b)) == expected)
        // Where A was not known, B's tokens do not tell of it.
        #expect(try identity(scene.signIn(elsewhere, as: b)) == "\(b.userID) of \(b.userID) []")
    }

    @Test func aDuplicateGrantGivesWay() throws {
        let (a, b) = (try scene.anonymous(), try scene.person("bea"))
        let (dropped, kept) = (try scene.signIn(rp, as: a), try scene.signIn(rp, as: b))
        try scene.swap(a, into: "bea")
        #expect(scene.userInfo(dropped.access).status == 401)
        #expect(scene.refresh(dropped.refresh, by: rp).error == "invalid_grant")
        #expect(try identity(refreshed(kept)) == #"\#(b.userID) of \#(b.userID) ["\#(a.userID)"]"#)
    }

    @Test func anUnselectedGrantLeavesNoTrace() throws {
        let (a, b) = (try scene.anonymous(), try scene.person("bea"))
        let chosen = try scene.register(anonymous: true)
        let (dropped, moved) = (try scene.signIn(rp, as: a), try scene.signIn(chosen, as: a))
        try scene.swap(a, into: "bea", rps: [chosen.clientID])
        #expect(scene.userInfo(dropped.access).status == 401)
        #expect(scene.refresh(dropped.refresh, by: rp).error == "invalid_grant")
        #expect(try identity(scene.signIn(rp, as: b)) == "\(b.userID) of \(b.userID) []")
        #expect(
            try identity(refreshed(moved, at: chosen))
                == #"\#(a.userID) of \#(b.userID) ["\#(a.userID)"] previously anonymous"#)
    }

    @Test func aCodeFollowsItsGrant() throws {
        let (a, b) = (try scene.anonymous(), try scene.person("bea"))
        let code = try scene.code(rp, as: a)
        try scene.swap(a, into: "bea")
        #expect(
            try identity(Tokens(scene.exchange(code, by: rp)))
                == #"\#(a.userID) of \#(b.userID) ["\#(a.userID)"] previously anonymous"#)
    }

    // MARK: Merge

    @Test(arguments: [false, true]) func aMergeIsToldByBothGrants(isAnonymous: Bool) throws {
        let a = isAnonymous ? try scene.anonymous() : try scene.person("ada")
        let b = try scene.person("bea")
        let elsewhere = try scene.register(anonymous: true)
        let (ofA, ofB) = (try scene.signIn(rp, as: a), try scene.signIn(rp, as: b))
        let other = try scene.signIn(elsewhere, as: b)
        try scene.merge(a.userID, into: b.userID)
        let list = #"["\#(a.userID)"]"#
        let previously = isAnonymous ? " previously anonymous" : ""
        #expect(try identity(refreshed(ofA)) == "\(a.userID) of \(b.userID) \(list)\(previously)")
        #expect(try identity(refreshed(ofB)) == "\(b.userID) of \(b.userID) \(list)")
        // A merge is told everywhere.
        #expect(try identity(refreshed(other, at: elsewhere)) == "\(b.userID) of \(b.userID) \(list)")
        // New authorizations use the canonical grant.
        #expect(try identity(scene.signIn(rp, as: b)) == "\(b.userID) of \(b.userID) \(list)")
    }

    @Test func linkedSubsAreSortedByNumberAndEachIsThereOnce() throws {
        let b = try scene.person("bea")
        let tokens = try scene.signIn(rp, as: b)
        for id in [9_000_000, 10_000_000, 100_000_000] {
            try scene.app.change("INSERT INTO users (id) VALUES (?)", id)
            try scene.app.absorb(id, into: b.userID)
        }
        for sub in ["20000000", "10000000", "\(b.userID)"] {
            try scene.app.change(
                """
                INSERT INTO absorbed_subs (application_id, sub, canonical_user_id, via, was_anonymous, occurred_at)
                VALUES (?, ?, ?, 'anonymous_swap', 1, NOW(3))
                """, rp.id, sub, b.userID)
        }
        #expect(
            try refreshed(tokens).idClaims["linked_subs"] == ["9000000", "10000000", "20000000", "100000000"])
    }

    @Test func detailsAreASecondClaim() throws {
        let (a, b, c) = (try scene.anonymous(), try scene.person("bea"), try scene.person("cleo"))
        let (ofA, ofB) = (try scene.signIn(rp, as: a), try scene.signIn(rp, as: b))
        scene.app.time.advance(by: .seconds(60))
        try scene.swap(a, into: "bea")
        try scene.merge(c.userID, into: b.userID)
        try scene.app.change("UPDATE identity_links SET created_at = '2026-05-12 08:00:00.123'")
        let before = try refreshed(ofB)
        #expect(try before.idClaims["linked_sub_details"] == nil)
        try scene.app.change("UPDATE applications SET linked_sub_details = 1 WHERE id = ?", rp.id)
        let tokens = try refreshed(before)
        let claims = try tokens.idClaims
        func detail(_ sub: Int, _ via: String, _ time: String) -> JSONValue {
            [
                "sub": .string("\(sub)"), "merged_canonical_sub": .string("\(sub)"), "merged_via": .string(via),
                "occurred_at": .string(time), "source_event_id": .null,
            ]
        }
        #expect(
            claims["linked_sub_details"]
                == .array([
                    detail(a.userID, "anonymous_swap", "2026-05-12T07:01:00Z"),
                    detail(c.userID, "t1_device_link", "2026-05-12T08:00:00Z"),
                ]))
        #expect(claims["linked_subs"] == [.string("\(a.userID)"), .string("\(c.userID)")])
        #expect(scene.userInfo(tokens.access)["linked_sub_details"] == claims["linked_sub_details"])
        #expect(try LogiClaims(token: try #require(tokens.id)).linkedSubs?.count == 2)
        #expect(scene.refresh(ofA.refresh, by: rp).error == "invalid_grant")
    }
}
