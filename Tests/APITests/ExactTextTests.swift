import HTTP
import IdentityTokens
import JOSE
import JSON
import TestSupport
import Testing

/// Text that a decision depends on must not have half of a surrogate pair (accounts §1.5). If it were read as U+FFFD,
/// it would equal other texts.
@Suite struct ExactTextTests {
    let app: TestApp
    let client: Client
    let phone: Phone

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.bootstrap()
    }

    /// A request with a member that JSON escapes.
    private func send(_ path: String, _ members: KeyValuePairs<String, String>, token: String? = nil) -> Answer {
        let body = members.map { #""\#($0.key)":"\#($0.value)""# }.joined(separator: ",")
        return client.send(.post, path, bytes: Array("{\(body)}".utf8), token: token)
    }

    private static let identityPaths = [
        "/api/v1/auth/apple/session", "/auth/apple/session", "/api/v1/me/connected_identities",
        "/api/v1/me/anonymous_swap",
    ]

    /// Half of a pair does not equal U+FFFD, nor another half.
    @Test(arguments: identityPaths, [#"\ud800"#, #"nonce\udfff"#, #"\ude00\ud83d"#])
    func nonceIsNoOther(path: String, nonce: String) throws {
        let token = app.issuer(.apple).token(nonce: nonce == #"\ud800"# ? "\u{FFFD}" : "nonce\u{FFFD}")
        try app.expectUnchanged {
            let answer = send(
                path, ["provider": "apple", "identity_token": token, "raw_nonce": nonce], token: phone.token)
            #expect("\(answer)" == invalidIdentityToken("malformed token"))
        }
    }

    @Test func theCharacterItselfIsANonce() {
        let token = app.issuer(.apple).token(nonce: "\u{FFFD}😀")
        let answer = send(
            "/api/v1/auth/apple/session", ["identity_token": token, "raw_nonce": #"\ufffd\ud83d\ude00"#])
        #expect(answer.status == 200)
    }

    @Test(arguments: identityPaths) func tokenHasNone(path: String) throws {
        try app.expectUnchanged {
            let token = app.issuer(.apple).token()
            let escaped = send(
                path, ["provider": "apple", "identity_token": token + #"\ud800"#, "raw_nonce": "nonce"],
                token: phone.token)
            #expect("\(escaped)" == invalidIdentityToken("malformed token"))
        }
    }

    /// Half of a pair is refused in any of these claims.
    @Test(arguments: ["sub", "nonce", "aud", "iss", "azp", "email", "hd", "name", "unknown"])
    func noClaimHasOne(_ claim: String) throws {
        // The writer writes no halves: another character's escape is cut in two.
        let payload = app.issuer(.apple).claims().merging([claim: "CUT"]) { $1 }.json()
        let json = String(decoding: payload, as: UTF8.self).replacing("CUT", with: #"x\ud83d"#)
        let token = try TestIssuer.rsa.sign(header: TestIssuer.header(TestIssuer.rsa), payload: Array(json.utf8))
        let answer = send("/api/v1/auth/apple/session", ["identity_token": token, "raw_nonce": "nonce"])
        #expect("\(answer)" == invalidIdentityToken("malformed token"))
    }

    @Test func secretsHaveNone() throws {
        let secret = phone.secret + #"\ud800"#
        let requests: [(String, KeyValuePairs<String, String>)] = [
            ("/api/v1/devices", ["device_uuid": phone.uuid, "platform": "ios", "device_secret": secret]),
            (
                "/api/v1/auth/anonymous_bootstrap",
                ["device_id": phone.uuid, "device_platform": "ios", "device_secret": secret]
            ),
            (
                "/auth/apple/session",
                ["device_uuid": phone.uuid, "platform": "ios", "device_secret": secret]
            ),
            ("/api/v1/me/anonymous_swap", ["provider": "apple", "swap_ticket": #"swt_\udc00"#]),
            ("/api/v1/oauth/device", ["user_code": #"BCDFGHJK\udc00"#, "decision": "approve"]),
            ("/api/v1/oauth/authorize", ["nonce": #"\udc00"#]), ("/api/v1/oauth/authorize", ["state": #"\udc00"#]),
            ("/api/v1/oauth/authorize", ["code_challenge": #"\udc00"#]),
        ]
        try app.expectUnchanged {
            for (path, members) in requests {
                #expect("\(send(path, members, token: phone.token))" == refusal(400, "invalid_request"), "\(members)")
            }
        }
    }

    /// Half of a pair is invalid in a device's UUID, and makes an address absent.
    @Test func otherTextsHaveTheirOwnForms() throws {
        let uuid = String(phone.uuid.dropLast()) + #"\ud800"#
        #expect(
            "\(send("/api/v1/devices", ["device_uuid": uuid, "platform": "ios"]))" == refusal(400, "invalid_request"))
        let body = #"{"contact_email":"a\ud800@example.com"}"#
        let answer = client.send(.patch, "/api/v1/me", bytes: Array(body.utf8), token: phone.token)
        #expect("\(answer)" == refusal(422, "invalid_contact_email"))
    }

    /// No decision depends on a name, so losing half a character is better than losing the sign-in.
    @Test func aNameMayHaveOne() throws {
        let token = app.issuer(.apple).token()
        let body = #"{"identity_token":"\#(token)","raw_nonce":"nonce","full_name":{"given_name":"Ada\ud83d"}}"#
        let answer = client.send(.post, "/auth/apple/session", bytes: Array(body.utf8))
        #expect(answer["user"]?["name"] == "Ada\u{FFFD}")
    }
}
