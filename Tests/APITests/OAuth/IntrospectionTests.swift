import HTTP
import JOSE
import JSON
import MariaDB
import TestSupport
import Testing

/// POST /oauth/introspect (RFC 7662, accounts §2.9).
@Suite struct IntrospectionTests {
    let scene: OAuthScene
    let rp: TestClient
    let person: Phone
    static let inactive = #"200 {"active":false}"#

    init() throws {
        scene = try OAuthScene()
        rp = try scene.register(confidential: true)
        person = try scene.person()
    }

    @Test func anAccessTokenIsDescribed() throws {
        let tokens = try scene.signIn(rp, as: person, scope: "openid email")
        let jti = try tokens.accessClaims["jti"]
        let answer = scene.introspect(tokens.access, by: rp)
        #expect(answer.status == 200)
        #expect(answer.header("Cache-Control") == "no-store")
        #expect(answer.header("Access-Control-Allow-Origin") == nil)
        #expect(
            answer.json == [
                "active": true, "scope": "openid email", "client_id": .string(rp.clientID),
                "sub": .string("\(person.userID)"), "canonical_sub": .string("\(person.userID)"),
                "token_type": "Bearer", "exp": 1_778_570_100, "iat": 1_778_569_200,
                "jti": try #require(jti),
            ])
    }

    @Test func theCanonicalSubIsThatOfNow() throws {
        let tokens = try scene.signIn(rp, as: person)
        let survivor = try scene.person("other")
        try scene.app.absorb(person.userID, into: survivor.userID)
        for token in [tokens.access, tokens.refresh] {
            let answer = scene.introspect(token, by: rp)
            #expect(answer["sub"] == .string("\(person.userID)"))
            #expect(answer["canonical_sub"] == .string("\(survivor.userID)"))
        }
    }

    @Test func theCurrentRefreshTokenIsDescribed() throws {
        let first = try scene.signIn(rp, as: person, scope: "openid email")
        scene.app.time.advance(by: .seconds(100))
        let second = try Tokens(scene.refresh(first.refresh, by: rp))
        #expect("\(scene.introspect(first.refresh, by: rp))" == Self.inactive)
        #expect(
            scene.introspect(second.refresh, by: rp).json == [
                "active": true, "scope": "openid email", "client_id": .string(rp.clientID),
                "sub": .string("\(person.userID)"), "canonical_sub": .string("\(person.userID)"),
                "token_type": "refresh_token", "exp": 1_781_161_300, "iat": 1_778_569_300,
            ])
        #expect(scene.refresh(second.refresh, by: rp).status == 200, "asking changed nothing")
    }

    @Test func anythingElseIsInactive() throws {
        let other = try scene.register(confidential: true)
        let own = try scene.signIn(rp, as: person)
        let tokens = try scene.signIn(other, as: person)
        let all = [tokens.access, tokens.refresh, try #require(own.id), "unknown", "a.b.c", person.token]
        for token in all { #expect("\(scene.introspect(token, by: rp))" == Self.inactive) }
        #expect("\(scene.introspect(try scene.resign(own.access, [:], type: "JWT"), by: rp))" == Self.inactive)
    }

    @Test(arguments: [
        "UPDATE refresh_families SET revoked_at = NOW(3)", "UPDATE grants SET revoked_at = NOW(3)",
        "UPDATE users SET deleted_at = NOW(3)",
    ])
    func theDeadAreInactive(sql: String) throws {
        let tokens = try scene.signIn(rp, as: person)
        _ = try scene.app.database.connect().query(sql)
        #expect("\(scene.introspect(tokens.access, by: rp))" == Self.inactive)
        #expect("\(scene.introspect(tokens.refresh, by: rp))" == Self.inactive)
    }

    @Test func thoseOfTheDeletedAreInactive() throws {
        let tokens = try scene.signIn(rp, as: person)
        #expect(scene.client.send(.delete, "/api/v1/me", token: person.token).status == 202)
        #expect("\(scene.introspect(tokens.access, by: rp))" == Self.inactive)
        #expect("\(scene.introspect(tokens.refresh, by: rp))" == Self.inactive)
    }

    @Test func theExpiredAndTheRevokedAreInactive() throws {
        let (first, second) = (try scene.signIn(rp, as: person), try scene.signIn(rp, as: person))
        _ = scene.revoke(first.access, by: rp)
        #expect("\(scene.introspect(first.access, by: rp))" == Self.inactive)
        #expect(scene.introspect(first.refresh, by: rp)["active"] == true)
        _ = scene.revoke(first.refresh, by: rp)
        #expect("\(scene.introspect(first.refresh, by: rp))" == Self.inactive)
        scene.app.time.advance(by: .seconds(900))
        #expect("\(scene.introspect(second.access, by: rp))" == Self.inactive)
        scene.app.time.advance(by: .seconds(30 * 86_400 - 900))
        #expect("\(scene.introspect(second.refresh, by: rp))" == Self.inactive)
    }

    @Test func onlyConfidentialClientsMayAsk() throws {
        let open = try scene.register()
        let token = try scene.signIn(rp, as: person).access
        func refusal(_ form: [(String, String?)], as rp: TestClient? = nil) throws -> String {
            try scene.post("/oauth/introspect", form, as: rp).oauthRefusal()
        }
        #expect(try refusal([("token", token)], as: open) == "401 invalid_client")
        #expect(try refusal([("token", token), ("client_id", rp.clientID)]) == "401 invalid_client")
        #expect(try refusal([], as: rp) == "400 invalid_request")
        let bearer = scene.client.send(.post, "/oauth/introspect", bytes: Array("token=x".utf8), token: token)
        #expect(try bearer.oauthRefusal() == "401 invalid_client")
        let byForm = scene.post(
            "/oauth/introspect", [("token", token), ("client_id", rp.clientID), ("client_secret", rp.secret)], as: nil)
        #expect(byForm["active"] == true)
    }
}
