import API
import Accounts
import Database
import HTTP
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text

/// The documents by which clients configure themselves (accounts §2.10).
@Suite struct DiscoveryTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    @Test func everyMemberIsAsTheSpecificationSays() throws {
        let answer = client.send(.get, "/.well-known/openid-configuration")
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "application/json")
        #expect(answer.header("Cache-Control") == "public, max-age=3600")
        #expect(
            answer.json == [
                "issuer": "https://id.example",
                "authorization_endpoint": "https://id.example/oauth/authorize",
                "token_endpoint": "https://id.example/oauth/token",
                "userinfo_endpoint": "https://id.example/oauth/userinfo",
                "jwks_uri": "https://id.example/.well-known/jwks.json",
                "revocation_endpoint": "https://id.example/oauth/revoke",
                "introspection_endpoint": "https://id.example/oauth/introspect",
                "device_authorization_endpoint": "https://id.example/oauth/device_authorization",
                "end_session_endpoint": "https://id.example/oauth/logout",
                "backchannel_logout_supported": true,
                "backchannel_logout_session_supported": true,
                "response_types_supported": ["code"],
                "response_modes_supported": ["query"],
                "grant_types_supported": [
                    "authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code",
                ],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
                "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
                "introspection_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
                "code_challenge_methods_supported": ["S256"],
                "scopes_supported": [
                    "openid", "profile", "profile:basic", "email", "phone", "address", "identity:level",
                    "offline_access",
                ],
                "claims_supported": [
                    "iss", "sub", "aud", "exp", "iat", "auth_time", "jti", "nonce", "at_hash", "sid",
                    "canonical_sub", "is_canonical", "linked_subs", "anonymous", "previously_anonymous", "email",
                    "email_verified",
                    "preferred_name", "full_name", "phone_number", "address", "postal_code",
                    "identity_verified_level",
                ],
                "prompt_values_supported": ["none", "login", "consent", "select_account"],
                "request_uri_parameter_supported": false,
            ])
    }

    @Test func theKeySetHasEveryPublishedKeyAndNoPrivateMember() throws {
        let first = try app.generateSigningKey()
        try app.activateSigningKey()
        let next = try app.generateSigningKey()
        let answer = client.send(.get, "/.well-known/jwks.json")
        #expect(answer.status == 200)
        #expect(answer.header("Content-Type") == "application/json")
        #expect(answer.header("Cache-Control") == "public, max-age=3600")
        let expected = try [first, next].map { key -> JSONValue in
            guard case .rsa(let modulus, _) = try app.privateKey(key.keyID).publicKey.components else { return .null }
            #expect(modulus.count == 256)
            return [
                "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string(key.keyID),
                "n": .string(Base64URL.encode(modulus)), "e": "AQAB",
            ]
        }
        #expect(answer.json == ["keys": .array(expected)])
        for key in [first, next] { #expect(key.keyID.wholeMatch(of: /[0-9a-f]{16}/) != nil) }
    }

    /// The very first key signs at once, so clients must not cache a key set without it.
    @Test func aSetWithoutKeysIsNotToBeKept() throws {
        let answer = client.send(.get, "/.well-known/jwks.json")
        #expect(answer.description == #"200 {"keys":[]}"#)
        #expect(answer.header("Cache-Control") == "no-store")
        try app.addSigningKey()
        #expect(client.send(.get, "/.well-known/jwks.json")["keys"]?.array?.count == 1)
    }

    @Test(arguments: ["/.well-known/openid-configuration", "/.well-known/jwks.json"])
    func theDocumentsAreOnlyRead(_ path: String) {
        let answer = client.send(.post, path)
        #expect(answer.status == 405)
        #expect(answer.header("Allow")?.contains("GET") == true)
    }

    @Test func theDocumentsOutliveTheDatabase() throws {
        try app.addSigningKey()
        let keySet = client.send(.get, "/.well-known/jwks.json").text
        var options = app.database.options
        options.address = .unixSocket("/nowhere/mariadb.sock")
        let cutOff = Client(Responder(service: app.service, database: Database(options)))
        for _ in 1...2 {
            #expect(cutOff.send(.get, "/.well-known/openid-configuration").status == 200)
            #expect(cutOff.send(.get, "/.well-known/jwks.json").text == keySet)
            app.time.advance(by: .seconds(3600))
        }
    }
}
