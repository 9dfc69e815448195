import HTTP
import IdentityTokens
import JSON
import TestSupport
import Testing

/// No long input costs more than n log n. Each input is sent with a quarter and with the whole of the size that nginx
/// and the body limit allow.
@Suite struct GrowthTests {
    /// A request of a given size.
    private struct Input: Sendable {
        let name: String
        /// A quarter of the largest size.
        let size: Int
        let request: @Sendable (Int, OAuthSceneIDs) -> GrownRequest

        init(_ name: String, _ size: Int, _ request: @escaping @Sendable (Int, OAuthSceneIDs) -> GrownRequest) {
            self.name = name
            self.size = size
            self.request = request
        }
    }

    private let scene: OAuthScene
    private let ids: OAuthSceneIDs

    init() throws {
        let scene = try OAuthScene()
        let rp = try scene.register()
        try scene.app.change("UPDATE applications SET scope_policy = 'log_only'")
        ids = OAuthSceneIDs(
            rp: rp, token: try scene.developer().token, audience: scene.app.issuer(.apple).audience,
            identityToken: { scene.app.issuer(.apple).token(audience: .array($0)) })
        self.scene = scene
    }

    @Test func ofForms() throws { try hold(Self.forms) }
    @Test func ofQueries() throws { try hold(Self.queries) }
    @Test func ofHeaders() throws { try hold(Self.headers) }
    @Test func ofBodies() throws { try hold(Self.bodies) }

    private func hold(_ inputs: [Input]) throws {
        for input in inputs {
            let factor = try growth(from: input.size) { size in
                input.request(size, ids)
            } work: { request in
                let answer = scene.client.send(
                    request.method, request.path, bytes: request.body, token: request.token, headers: request.headers)
                #expect(answer.status < 500, "\(input.name): \(answer)")
            }
            #expect(factor < quasilinear, "\(input.name)")
        }
    }

    // MARK: Forms, of 64 KiB

    private static func form(_ path: String, _ form: [(String, String?)]) -> GrownRequest {
        GrownRequest(
            method: .post, path: path, body: encoded(form),
            headers: [("content-type", "application/x-www-form-urlencoded")])
    }

    private static let forms: [Input] = [
        Input("scopes of a device", 2300) { n, ids in
            form("/oauth/device_authorization", [("client_id", ids.rp.clientID), ("scope", distinct(n, " "))])
        },
        Input("one scope again and again", 5400) { n, ids in
            form("/oauth/device_authorization", [("client_id", ids.rp.clientID), ("scope", repeated("a ", n))])
        },
        Input("scopes of a refresh", 2300) { n, ids in
            form(
                "/oauth/token",
                [
                    ("client_id", ids.rp.clientID), ("grant_type", "refresh_token"), ("refresh_token", "x"),
                    ("scope", distinct(n, " ")),
                ])
        },
        Input("pairs of a form", 2300) { n, ids in
            GrownRequest(
                method: .post, path: "/oauth/token",
                body: Array("client_id=\(ids.rp.clientID)&grant_type=x&\(distinct(n, "&"))".utf8))
        },
        Input("one parameter again and again", 5400) { n, _ in
            GrownRequest(method: .post, path: "/oauth/token", body: Array(repeated("a&", n).utf8))
        },
        Input("escapes", 5400) { n, ids in
            GrownRequest(
                method: .post, path: "/oauth/token",
                body: Array("client_id=\(ids.rp.clientID)&grant_type=\(repeated("%C3", n))".utf8))
        },
        Input("a user code", 16_000) { n, ids in form("/oauth/device", [("user_code", repeated("B-", n / 2))]) },
    ]

    // MARK: Queries, of 16 KiB

    private static func query(_ path: String, _ query: [(String, String?)], token: String? = nil) -> GrownRequest {
        GrownRequest(method: .get, path: "\(path)?" + String(decoding: encoded(query), as: UTF8.self), token: token)
    }

    private static func authorize(_ ids: OAuthSceneIDs, _ changes: [(String, String)]) -> [(String, String?)] {
        let parameters = [
            ("response_type", "code"), ("client_id", ids.rp.clientID), ("redirect_uri", ids.rp.redirectURI),
            ("scope", "openid"), ("state", "xyz"), ("code_challenge", OAuthScene.challenge),
            ("code_challenge_method", "S256"),
        ].filter { name, _ in !changes.contains { $0.0 == name } }
        return (parameters + changes).map { ($0.0, $0.1) }
    }

    private static let values: [(name: String, size: Int, value: @Sendable (Int) -> String)] = [
        ("scope", 650, { n in distinct(n, " ") }), ("state", 4000, { n in repeated("{", n) }),
        ("prompt", 650, { n in repeated("login ", n) }), ("provider", 650, { n in repeated("apple,", n) }),
        ("login_hint", 4000, { n in repeated("a", n) }), ("nonce", 2000, { n in repeated("é", n) }),
        ("max_age", 4000, { n in repeated("9", n) }), ("code_challenge", 4000, { n in repeated("9", n) }),
        ("redirect_uri", 4000, { n in repeated("a", n) }), ("client_id", 4000, { n in repeated("a", n) }),
        ("unknown", 4000, { n in repeated("a", n) }),
    ]

    private static let queries =
        values.flatMap { name, size, value in
            [
                Input("\(name) in a browser", size) { n, ids in
                    query("/oauth/authorize", authorize(ids, [(name, value(n))]))
                },
                Input("\(name) in a preview", size) { n, ids in
                    query("/api/v1/oauth/authorize/preview", authorize(ids, [(name, value(n))]), token: ids.token)
                },
                Input("\(name) in a diagnosis", size) { n, ids in query("/diagnose", authorize(ids, [(name, value(n))]))
                },
            ]
        } + [
            Input("pairs of a query", 650) { n, ids in
                GrownRequest(method: .get, path: "/oauth/authorize?client_id=\(ids.rp.clientID)&\(distinct(n, "&"))")
            },
            Input("a whole address in a diagnosis", 4000) { n, _ in
                query("/diagnose", [("url", "https://id.example/?redirect_uri=https://\(repeated("%41", n / 3))")])
            },
        ]

    // MARK: Header fields, of 16 KiB

    private static func header(_ name: String, _ value: String, at path: String) -> GrownRequest {
        GrownRequest(method: .get, path: path, headers: [(name, value)])
    }

    private static let headers: [Input] = [
        Input("cookies", 650) { n, _ in header("cookie", distinct(n, "; "), at: "/oauth/login") },
        Input("one cookie again and again", 600) { n, _ in
            header("cookie", repeated("__Host-merganser_x=1; ", n / 4), at: "/oauth/login")
        },
        Input("Accept", 500) { n, _ in header("accept", distinct(n, "/b,"), at: "/oauth/authorize") },
        Input("Accept-Language", 350) { n, _ in
            header(
                "accept-language",
                (0..<n).map { "*;q=0.\(String(1000 + $0 % 1000).dropFirst())" }.joined(separator: ","),
                at: "/session/logout")
        },
        Input("Authorization", 4000) { n, _ in
            header("authorization", "Bearer \(repeated("a.", n / 2))", at: "/oauth/userinfo")
        },
        Input("words of Authorization", 4000) { n, _ in
            header("authorization", repeated("a ", n / 2), at: "/api/v1/me")
        },
        Input("Basic credentials", 4000) { n, _ in
            header("authorization", "Basic \(repeated("ODo6", n / 4))", at: "/oauth/subs/1")
        },
        Input("header fields", 500) { n, _ in
            GrownRequest(method: .get, path: "/oauth/login", headers: (0..<n).map { ("x-\($0)", "1") })
        },
    ]

    // MARK: Bodies of JSON, of 64 KiB

    private static func post(_ path: String, _ body: JSONValue, token: String? = nil) -> GrownRequest {
        GrownRequest(method: .post, path: path, body: body.json(), token: token)
    }

    private static func application(_ members: [(String, JSONValue)], _ ids: OAuthSceneIDs) -> GrownRequest {
        let all: [(String, JSONValue)] = [("name", "Notes"), ("client_type", "public"), ("redirect_uris", ["a:b"])]
        let rest = all.filter { member in !members.contains { $0.0 == member.0 } }
        return post(
            OAuthScene.applications, ["application": .object(JSONObject(rest + members))], token: ids.token)
    }

    private static let bodies: [Input] = [
        Input("members of an object", 1500) { n, _ in
            post("/api/v1/devices", .object(JSONObject((0..<n).map { ("m\($0)", 1) })))
        },
        Input("one member again and again", 2200) { n, _ in
            GrownRequest(
                method: .post, path: "/api/v1/devices", body: Array("{\(repeated("\"a\":1,", n))\"b\":1}".utf8))
        },
        Input("redirect URIs", 1800) { n, ids in
            application([("redirect_uris", .array((0..<n).map { .string("a:\($0)") }))], ids)
        },
        Input("scopes of an application", 1600) { n, ids in
            application([("allowed_scopes", .array((0..<n).map { .string("a:\($0)") }))], ids)
        },
        Input("the name of an application", 7000) { n, ids in
            application([("name", .string(repeated("a\u{301}", n / 2)))], ids)
        },
        Input("a webhook's address", 16_000) { n, ids in
            application([("webhook_url", .string("https://\(repeated("%41", n / 3))"))], ids)
        },
        Input("scopes, natively", 2300) { n, ids in
            let members = authorize(ids, [("scope", distinct(n, " "))]).map { ($0.0, JSONValue.string($0.1 ?? "")) }
            return post("/api/v1/oauth/authorize", .object(JSONObject(members)), token: ids.token)
        },
        Input("state, natively", 16_000) { n, ids in
            let members = authorize(ids, [("state", repeated("{", n))]).map { ($0.0, JSONValue.string($0.1 ?? "")) }
            return post("/api/v1/oauth/authorize", .object(JSONObject(members)), token: ids.token)
        },
        Input("a person's name", 7000) { n, ids in
            post(
                "/api/v1/auth/apple/session",
                [
                    "identity_token": "a.b.c", "raw_nonce": "nonce",
                    "full_name": ["given_name": .string(repeated("\u{301}", n))],
                ])
        },
        Input("audiences of an identity token", 350) { n, ids in
            let audiences = (0..<n).map { JSONValue.string("a\($0)") } + [.string(ids.audience)]
            return post(
                "/api/v1/auth/apple/session",
                ["identity_token": .string(ids.identityToken(audiences)), "raw_nonce": "nonce"])
        },
        Input("parts of an identity token", 4000) { n, _ in
            post(
                "/api/v1/auth/apple/session",
                ["identity_token": .string(repeated("a.", n / 2)), "raw_nonce": "nonce"])
        },
    ]
}

/// What requests are made from.
private struct OAuthSceneIDs {
    let rp: TestClient
    let token: String
    let audience: String
    let identityToken: ([JSONValue]) -> String
}

private struct GrownRequest {
    var method: HTTP.Method
    var path: String
    var body: [UInt8] = []
    var headers: [(name: String, value: String)] = []
    var token: String?
}

private func distinct(_ count: Int, _ separator: String) -> String {
    (0..<count).map { "s\($0)" }.joined(separator: separator)
}

private func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
