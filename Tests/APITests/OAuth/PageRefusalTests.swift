import HTTP
import JSON
import Testing

/// A page's refusal is JSON for a client that prefers it (accounts §0.2).
struct PageRefusalTests {
    private let scene: OAuthScene

    init() throws { scene = try OAuthScene() }

    @Test(
        arguments: [
            (HTTP.Method.get, "/oauth/authorize?client_id=unknown", [], 400, "invalid_client"),
            (.get, "/oauth/logout?state=" + String(repeating: "x", count: 2001), [], 400, "invalid_request"),
            (.get, "/oauth/logout?request=x", [], 400, "invalid_request"),
            (.get, "/oauth/consent", [], 400, "invalid_request"),
            (.post, "/oauth/consent", [("request", "x")], 403, "invalid_request"),
            (.get, "/auth/unknown/web/start?request=x", [], 404, "not_found"),
        ] as [(HTTP.Method, String, [(String, String?)], Int, String)])
    func whoPrefersJSONGetsIt(
        method: HTTP.Method, path: String, form: [(String, String?)], status: Int, code: String
    ) {
        let browser = TestBrowser(scene.app)
        let page = browser.send(method, path, form)
        #expect(page.status == status)
        #expect(page.header("Content-Type") == "text/html; charset=utf-8")

        let refusal = browser.send(method, path, form, headers: [("accept", "application/json")])
        #expect(refusal.status == status)
        #expect(refusal.header("Content-Type") == "application/json")
        #expect(refusal.json["error"] == .string(code))
    }
}
