import HTTP
import JSON
import Testing

@testable import API

/// The paths that scripts of other origins may call (accounts §2.12).
@Suite struct CORSTests {
    private static let open: Set<String> = [
        "/oauth/token", "/oauth/revoke", "/oauth/userinfo", "/api/v1/oauth/userinfo", "/.well-known/jwks.json",
        "/.well-known/openid-configuration",
    ]
    private static let origin = [(name: "origin", value: "https://shop.example")]

    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private func corsFields(_ answer: Answer) -> [String] {
        answer.response.headers.map(\.name).filter { $0.lowercased().hasPrefix("access-control-") }
    }

    @Test func theNamedPathsAndNoOthersAreOpen() {
        let routes = Routes.all
        let marked = Set(routes.filter(\.isCrossOrigin).map(\.pattern))
        #expect(marked == Self.open)
        // Every method of a path, or none.
        #expect(routes.allSatisfy { $0.isCrossOrigin == Self.open.contains($0.pattern) })
    }

    @Test(arguments: open.sorted())
    func theirPreflightIsAnswered(_ path: String) {
        let answer = client.send(
            .options, path,
            headers: Self.origin + [
                ("access-control-request-method", "POST"), ("access-control-request-headers", "authorization"),
            ])
        #expect(answer.status == 204 && answer.text.isEmpty)
        #expect(answer.header("Access-Control-Allow-Origin") == "*")
        #expect(answer.header("Access-Control-Allow-Methods") == "GET, HEAD, POST")
        #expect(answer.header("Access-Control-Allow-Headers") == "Authorization, Content-Type")
        #expect(answer.header("Access-Control-Allow-Credentials") == nil)
    }

    /// Errors have the header, because scripts must read them. So do answers to requests without an Origin, so that
    /// caches need not distinguish them.
    @Test(arguments: open.sorted(), [Method.get, .head, .post, .put])
    func everyAnswerIsReadable(_ path: String, _ method: Method) {
        for headers in [Self.origin, [], Self.origin + [("cookie", "a=b"), ("authorization", "Bearer x")]] {
            let answer = client.send(method, path, bytes: [], headers: headers)
            #expect(corsFields(answer) == ["Access-Control-Allow-Origin"], "\(answer)")
            #expect(answer.header("Access-Control-Allow-Origin") == "*")
        }
    }

    @Test(arguments: open.sorted())
    func refusedBodiesAndFailuresAreReadable(_ path: String) throws {
        guard let route = Routes.oauth.first(where: { $0.pattern == path && $0.method == .post }) else { return }
        let large = client.send(route.method, path, bytes: [UInt8](repeating: 0x61, count: 65_537))
        #expect(large.status == 413 && corsFields(large) == ["Access-Control-Allow-Origin"])
        try app.change("RENAME TABLE applications TO gone")
        let failed = client.send(
            route.method, path, bytes: Array("client_id=x&grant_type=y&token=z".utf8),
            headers: [("content-type", "application/x-www-form-urlencoded")])
        #expect(failed.status >= 400 && corsFields(failed) == ["Access-Control-Allow-Origin"])
    }

    @Test func nothingElseIsReadable() {
        let routes = (Routes.accounts + Routes.oauth + Routes.administration).filter { !Self.open.contains($0.pattern) }
        let paths = Set(routes.map { $0.pattern.replacing("{provider}", with: "apple") })
        for path in paths.union(["/", "/oauth", "/oauth/token/", "/oauth/tokens", "/.well-known/jwks"]) {
            for method in [Method.options, .get, .post] {
                let answer = client.send(method, path, [:], headers: Self.origin)
                #expect(corsFields(answer) == [], "\(method.rawValue) \(path)")
                if method == .options { #expect(answer.status == 405 || answer.status == 404) }
            }
        }
    }
}
