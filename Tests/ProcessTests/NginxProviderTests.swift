import Fetch
import Foundation
import TestSupport
import Testing

/// nginx's part in the OpenID provider and in accounts (accounts §0.2, §1.2, §2.12).
@Suite struct NginxProviderTests {
    // MARK: Limits

    @Test(arguments: [
        ("/api/v1/devices", 100), ("/api/v1/auth/anonymous_bootstrap", 100), ("/api/v1/auth/google/session", 100),
        ("/auth/apple/session", 100), ("/oauth/device_authorization", 100), ("/auth/apple/notifications", 100),
        ("/oauth/authorize?client_id=a", 200), ("/oauth/device", 200), ("/oauth/push/start", 200),
        ("/oauth/qr/start", 200), ("/admin", 200), ("/admin/users/1?a=b", 200),
        ("/auth/apple/web/start", 200), ("/auth/google/web/callback", 200),
        ("/api/v1/me/connected_identities", 100),
    ])
    func whoComesWithoutCredentialsIsLimitedPerAddress(path: String, burst: Int) throws {
        // So slow that no second allowance comes within the test.
        let front = try Front { $0.replacing(/rate=10000r\/s/, with: "rate=1r/m") }
        for _ in 0...burst { #expect(try front.post(path).status == 503) }
        let answer = try front.post(path)
        #expect(answer.status == 429)
        #expect(answer.header("retry-after") == "1")
        if path.hasPrefix("/oauth/") {
            try expectFourMembers(answer.body, answer.header, "rate_limited")
        } else {
            #expect(answer.text == #"{"error":"rate_limited"}"#)
        }
        expectOwnHeaders(answer.header)
        for path in ["/api/v1/me", "/api/v1/me/connected_identities", "/oauth/token"] {
            #expect(try front.get(path).status == 503, "other paths go on")
        }
    }

    @Test func signInsAndNewDevicesDoNotUseEachOthersAllowance() throws {
        let front = try Front(.production) { $0.replacing(/rate=\d+r\/s/, with: "rate=1r/m") }
        while try front.get("/oauth/authorize").status != 429 {}
        #expect(try front.post("/api/v1/devices").status == 503)
        while try front.post("/api/v1/devices").status != 429 {}
        #expect(try front.post("/oauth/device_authorization").status == 429)
    }

    // MARK: Errors

    @Test(arguments: ["/oauth/token?code=secret", "/api/v1/oauth/userinfo", "/oauth/authorize", "/oauth/subs/17"])
    func oauthErrorsHaveFourMembers(path: String) throws {
        let front = try Front()
        let answer = try front.get(path)
        #expect(answer.status == 503)
        #expect(answer.header("retry-after") == "1")
        try expectFourMembers(answer.body, answer.header, "temporarily_unavailable")
        expectOwnHeaders(answer.header)

        let large = try front.post(path, headers: [("Expect", "")], size: 65_537)
        #expect(large.status == 413)
        try expectFourMembers(large.body, large.header, "payload_too_large")
    }

    @Test func whatIsNoRequestHasTheShapeOfThePath() throws {
        let front = try Front()
        let long = String(repeating: "x", count: 20_000)
        for (request, status, code) in [
            ("GET /oauth/authorize?state=\(long) HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "invalid_request"),
            ("POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nX: \(long)\r\n\r\n", 400, "invalid_request"),
            ("TRACE /oauth/token HTTP/1.1\r\nHost: localhost\r\n\r\n", 405, "method_not_allowed"),
        ] {
            let connection = try front.connect()
            try connection.send(Array(request.utf8))
            let answer = try connection.receiveAnswer()
            #expect(answer.status == status)
            try expectFourMembers(answer.body, answer.header, code)
            #expect((answer.header("allow") != nil) == (status == 405))
            #expect((answer.header("access-control-allow-origin") == "*") == request.contains("/oauth/token"))
        }
    }

    @Test(arguments: [
        ("/oauth/authorize?state=secret", "ko-KR,ko;q=0.9,en;q=0.8", "잠시 후 다시 시도해 주세요"),
        ("/oauth/device", "en-US,en;q=0.9", "Please try again in a moment"),
        ("/auth/apple/web/callback", "fr", "Please try again in a moment"),
        ("/diagnose", "", "Please try again in a moment"), ("/admin", "en", "Please try again in a moment"),
        ("/admin/users/1", "ko", "잠시 후 다시 시도해 주세요"),
    ])
    func peopleGetAPage(path: String, languages: String, title: String) throws {
        let front = try Front()
        let browser = [
            ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
            ("Accept-Language", languages),
        ]
        let page = try front.get(path, headers: browser)
        #expect(page.status == 503)
        #expect(page.header("retry-after") == "1")
        expectOwnHeaders(page.header, "text/html; charset=utf-8")
        #expect(page.header("content-security-policy")?.hasPrefix("default-src 'none'; frame-ancestors 'none'") == true)
        #expect(page.text.contains("<h1>\(title)</h1>"))
        #expect(page.text.contains("<html lang=\"\(languages.hasPrefix("ko") ? "ko" : "en")\">"))
        #expect(page.text.contains(try #require(page.header("x-request-id"))))
        #expect(!page.text.contains("secret"))

        #expect(
            try front.get(path, headers: [("Accept", "application/json")]).header("content-type") == "application/json")
    }

    @Test(arguments: ["/oauth/token", "/oauth/introspect", "/oauth/userinfo", "/oauth/subs/17", "/api/v1/me"])
    func programsGetJSONWhateverTheyAccept(path: String) throws {
        let answer = try Front().get(path, headers: [("Accept", "text/html")])
        #expect(answer.header("content-type") == "application/json")
    }

    // MARK: Other origins

    @Test(arguments: [
        "/oauth/token", "/oauth/revoke", "/oauth/userinfo", "/api/v1/oauth/userinfo", "/.well-known/jwks.json",
        "/.well-known/openid-configuration",
    ])
    func errorsAreReadableWhereAnswersAre(path: String) throws {
        let answer = try Front().get(path)
        #expect(answer.header("access-control-allow-origin") == "*")
        #expect(answer.header("access-control-allow-credentials") == nil)
    }

    @Test(arguments: [
        "/oauth/authorize", "/oauth/introspect", "/oauth/device_authorization", "/oauth/token/", "/oauth/tokens",
        "/api/v1/oauth/authorize", "/api/v1/me", "/.well-known/assetlinks.json", "/v1/ingest",
    ])
    func otherErrorsAreNot(path: String) throws {
        #expect(try Front().get(path).header("access-control-allow-origin") == nil)
    }

    // MARK: What passes

    @Test func anAnswerMayRepeatTheLongestState() throws {
        let front = try Front()
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime(echo) {} }
        let state = String(repeating: "s", count: 16_000)
        let answer = try front.get("/oauth/authorize?state=\(state)")
        #expect(answer.status == 200)
        #expect(answer.header("x-query") == "state=\(state)")
    }

    @Test(arguments: ["X-Content-Type-Options/nosniff", "Referrer-Policy/no-referrer", "Cache-Control/no-store"])
    func whatTheResponderSaysIsNotSaidTwice(field: String) throws {
        let front = try Front()
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime(echo) {} }
        let answer = try front.get("/field/\(field)")
        let parts = field.split(separator: "/")
        #expect(answer.headers.filter { $0.name == parts[0].lowercased() }.map(\.value) == [String(parts[1])])
    }

    /// Pages have secrets next to text that others choose, so the length of a compressed page would reveal them
    /// (BREACH).
    @Test func nothingIsCompressed() throws {
        let front = try Front(.production)
        let echo = try Echo(socket: front.run.file("merganser.sock"))
        defer { withExtendedLifetime(echo) {} }
        let answer = try front.get("/large/50000", headers: [("Accept-Encoding", "gzip")])
        #expect(answer.header("content-encoding") == nil)
        #expect(answer.body.count == 50_000)
    }

    private func expectFourMembers(
        _ body: [UInt8], _ header: (String) -> String?, _ code: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let members = try JSONDecoder().decode([String: String].self, from: Data(body))
        #expect(
            Set(members.keys) == ["error", "error_description", "error_uri", "request_id"],
            sourceLocation: sourceLocation)
        #expect(members["error"] == code, sourceLocation: sourceLocation)
        #expect(members["error_description"]?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(members["error_uri"]?.hasSuffix("/oauth/errors#\(code)") == true, sourceLocation: sourceLocation)
        #expect(members["request_id"] == header("x-request-id"), sourceLocation: sourceLocation)
    }
}
