import Analytics
import HTTP
import JSON
import Testing

@testable import API

/// HEAD is answered like GET (accounts §0.1, analytics §2.1; RFC 9110 §9.3.2). The connection leaves out the body.
@Suite struct HeadTests {
    let scene: OAuthScene

    init() throws { scene = try OAuthScene() }

    private var app: TestApp { scene.app }

    @Test func everyGetRouteAnswersHead() throws {
        let (analytics, client) = (try AnalyticsScene(app), app.client())
        let tokens = [nil, try client.bootstrap().token, analytics.agentKey, analytics.clientKey]
        for route in Routes.all where route.method == .get {
            let path = route.pattern.replacing("{provider}", with: "apple").replacing(/\{[a-z_]+\}/, with: uuid(1))
            for token in tokens {
                // HEAD first: it changes nothing that GET shows.
                let head = client.send(.head, path, token: token, requestID: "f00d").response
                let get = client.send(.get, path, token: token, requestID: "f00d").response
                let isUnread = path == "/api/v1/me/export" && get.status == .ok
                #expect(head.status == get.status && head.length == (isUnread ? nil : get.length), "\(path)")
                // Cookies open what only GET keeps, and handles are new every time.
                #expect(
                    head.headers.map(\.name) == get.headers.map(\.name).filter { $0 != "Set-Cookie" }, "\(path)")
            }
        }
    }

    @Test func otherRoutesDoNot() {
        for route in Routes.all {
            let path = route.pattern.replacing("{provider}", with: "apple")
            let answer = app.client().send(.brew, path)
            #expect(answer.status == 405)
            let allowed = answer.header("Allow")?.split(separator: ", ") ?? []
            #expect(allowed.contains("HEAD") == allowed.contains("GET"), "\(path)")
            if !allowed.contains("GET") {
                let head = app.client().send(.head, path)
                #expect(head.status == 405 && head.header("Allow") == answer.header("Allow"), "\(path)")
            }
        }
    }

    /// Programs that check the links of a mail or a chat send HEAD, perhaps with the user's cookies.
    @Test func aSignInIsNotUsedUp() throws {
        let rp = try scene.register(redirectURIs: ["https://shop.example/callback"])
        let browser = TestBrowser(app)
        func check(_ path: String, _ status: Int = 303, sourceLocation: SourceLocation = #_sourceLocation) throws {
            try app.expectUnchanged(sourceLocation: sourceLocation) {
                for _ in 0..<2 {
                    let answer = browser.send(.head, path)
                    #expect(answer.status == status, "\(path)", sourceLocation: sourceLocation)
                    #expect(answer.header("Set-Cookie") == nil, sourceLocation: sourceLocation)
                }
            }
        }
        let authorize = scene.authorizePath(rp)
        try check(authorize)
        browser.open(authorize)
        try check(browser.path, 200)
        try check(try #require(browser.links.first { $0.hasPrefix("/auth/apple/") }))
        let trip = try browser.setOut()
        let finish = try browser.finish(trip, [("id_token", app.token(for: trip, email: "bea@example.com"))])
        let cookies = browser.cookies
        try check(finish)
        #expect(browser.cookies == cookies)
        browser.open(finish)
        #expect(browser.path.hasPrefix("/oauth/consent?"))
        try check(browser.path, 200)
        try browser.submit("/oauth/consent", ["decision": "allow"])
        #expect(browser.code != nil)
        // From now on the page would send a code at once.
        try check(authorize, 302)
        try check("/oauth/device?user_code=WDJB-MJHT")
        try check("/session/logout", 200)
        #expect(browser.open(authorize).status == 302)
        #expect(browser.code != nil)
    }

    @Test func aFileIsNotRead() throws {
        let analytics = try AnalyticsScene(app)
        try analytics.store.prepare()
        let client = app.client()
        let bytes = Array("hello".utf8)
        let id = try analytics.reserve(client, bytes)
        #expect(analytics.upload(client, id, bytes).status == 200)
        let shown = client.send(.get, "/v1/attachments/\(id)", token: analytics.agentKey)
        let link = try #require(shown["download_url"]?["url"]?.string)
        let path = String(link.dropFirst(TestApp.issuer.count))
        let (head, get) = (client.send(.head, path), client.send(.get, path))
        #expect(head.status == 200 && head.response.length == get.response.length)
        #expect(try head.content() == get.content(), "nothing of it is gone")
    }
}

extension Method {
    fileprivate static let brew = Method(rawValue: "BREW")
}
