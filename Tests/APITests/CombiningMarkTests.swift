import HTTP
import TestSupport
import Testing
import Text

/// Before Swift compares strings, it sorts combining marks. For a long row of marks that takes quadratic time.
@Suite struct CombiningMarkTests {
    private let scene: OAuthScene
    private static let pair = "\u{300}\u{316}"
    private static let form = [("content-type", "application/x-www-form-urlencoded")]

    init() throws { scene = try OAuthScene() }

    private static func marks(_ pairs: Int) -> String { String(repeating: pair, count: pairs) }

    @Test(arguments: ["grant_type", "client_id", "scope", "client_secret"])
    func ofAForm(_ name: String) throws {
        let rest = ["client_id", "grant_type"].filter { $0 != name }.map { "&\($0)=x" }.joined()
        let factor = try growth(from: 3_900) {
            Array("\(name)=\(Self.marks($0))\(rest)".utf8)
        } work: { body in
            let answer = scene.client.send(.post, "/oauth/token", bytes: body, headers: Self.form)
            #expect(answer.status == 400 || answer.status == 401)
        }
        #expect(factor < quasilinear, "\(factor)")
    }

    @Test(arguments: [("/api/v1/devices", "platform"), ("/api/v1/auth/anonymous_bootstrap", "device_platform")])
    func ofABody(_ path: String, _ name: String) throws {
        for escaped in [false, true] {
            let factor = try growth(from: 1_250) { pairs in
                let value = escaped ? String(repeating: #"\u0300\u0316"#, count: pairs) : Self.marks(pairs)
                return Array(#"{"\#(name)":"\#(value)"}"#.utf8)
            } work: { body in
                #expect(scene.client.send(.post, path, bytes: body).status == 400)
            }
            #expect(factor < quasilinear, "\(factor) \(escaped)")
        }
    }

    @Test(arguments: ["response_type", "scope", "redirect_uri", "prompt", "nonce"])
    func ofAnAuthorizeRequest(_ name: String) throws {
        let rp = try scene.register()
        let factor = try growth(from: 600) { pairs in
            "/oauth/authorize?client_id=\(rp.clientID)&\(name)=" + String(repeating: "%CC%80%CC%96", count: pairs)
        } work: { path in
            #expect(scene.client.send(.get, path).status < 500)
        }
        #expect(factor < quasilinear, "\(factor)")
    }

    @Test(arguments: [
        ("/api/v1/oauth/authorize/preview", "authorization"), ("/oauth/device", "accept"),
        ("/oauth/device", "accept-language"), ("/oauth/device", "cookie"), ("/v1/apps", "authorization"),
        ("/v1/feedback", "content-type"), ("/v1/feedback", "content-encoding"), ("/oauth/token", "content-type"),
        ("/api/v1/auth/anonymous_bootstrap", "idempotency-key"), ("/api/v1/me/swap_anonymous_account", "if-match"),
    ])
    func ofAHeader(_ path: String, _ name: String) throws {
        let posts = ["content-type", "content-encoding", "idempotency-key", "if-match"].contains(name)
        let factor = try growth(from: 1_000) {
            Self.marks($0)
        } work: { value in
            let answer = scene.client.send(
                posts ? .post : .get, path, bytes: posts ? [0x7B] : [], headers: [(name, value)])
            #expect(answer.status < 500)
        }
        #expect(factor < quasilinear, "\(factor)")
    }

    @Test(arguments: [
        "/api/v1/auth/{}/session", "/auth/{}/web/start", "/api/v1/me/identities/{}", "/v1/events/{}", "/{}",
    ])
    func ofAPath(_ pattern: String) throws {
        let parts = pattern.split(separator: "{}", omittingEmptySubsequences: false)
        let factor = try growth(from: 500) { pairs in
            Request(method: .post, path: parts[0] + Self.marks(pairs) + parts[1])
        } work: { request in
            #expect(scene.client.send(request).status < 500)
        }
        #expect(factor < quasilinear, "\(factor)")
    }

    @Test(arguments: [
        ("/v1/events", ["level", "order", "data_mode", "cursor", "limit", "since", "app_id", "user_id", "session_id"]),
        ("/v1/app-users", ["is_anonymous", "billing_status", "sort", "search", "team_id"]),
        ("/v1/feedback", ["status", "is_dev"]), ("/v1/attachments", ["event_id", "issue_id"]),
    ])
    func ofAFilter(_ path: String, _ names: [String]) throws {
        let analytics = try AnalyticsScene(scene.app)
        for name in names {
            let factor = try growth(from: 600) { pairs in
                "\(path)?\(name)=" + String(repeating: "%CC%80%CC%96", count: pairs)
            } work: { target in
                #expect(analytics.get(target, scene.client).status < 500)
            }
            #expect(factor < quasilinear, "\(name) \(factor)")
        }
    }

    /// Proves that the test's measure detects quadratic time.
    @Test func comparingCostsTheSquare() throws {
        let factor = try growth(from: 1_000) {
            (Self.marks($0), String(Self.marks($0).dropLast()) + "x")
        } work: {
            #expect($0.0 != $0.1)
        }
        #expect(factor > quasilinear, "\(factor)")
    }

    @Test(arguments: [("", 30, true), ("a", 31, false), ("e", 29, true)])
    func thirtyInARowAreText(_ start: String, _ count: Int, _ isSafe: Bool) {
        let text = start + String(repeating: "\u{301}", count: count)
        #expect(text.isStreamSafe == isSafe)
        #expect((text + "a" + text).isStreamSafe == isSafe)
        #expect(Headers([("accept", text)]).first("accept") == (isSafe ? text : ""))
    }
}
