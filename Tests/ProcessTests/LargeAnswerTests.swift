import Foundation
import MariaDB
import OpenSSL
import TestSupport
import Testing

/// The largest headers that a request can cause, through the shipped nginx: redirects repeat the `state`.
@Suite struct LargeAnswerTests {
    private let front: Front
    private let installation: Installation
    private let server: ChildProcess
    private let clientID = "logi_" + String(repeating: "0", count: 32)
    private let web = "https://shop.example/" + String(repeating: "a", count: 1979)
    private let native = "com.example.shop:/cb"
    private let session = String(repeating: "s", count: 43)
    private let browser = String(repeating: "b", count: 43)

    init() throws {
        front = try Front()
        installation = try Installation([
            "MERGANSER_SOCKET": front.run.file("merganser.sock"),
            "MERGANSER_GOOGLE_WEB_CLIENT_ID": "web.google.example",
            "MERGANSER_GOOGLE_AUDIENCES": "web.google.example",
        ])
        try installation.directory.link("fastcgi.sock", to: front.run.file("merganser.sock"))
        let db = try installation.database.connect()
        let scopes = (0..<100).map { "s:\($0)" }.joined(separator: " ")
        try db.execute(
            """
            INSERT INTO applications (client_id, name, client_type, redirect_uris, allowed_scopes, status)
            VALUES (?, 'Shop', 'public', JSON_ARRAY(?, ?), ?, 'active')
            """, clientID, web, native, "openid \(scopes)")
        let user = try db.execute("INSERT INTO users (name) VALUES ('Bea')").lastInsertID
        try db.execute(
            """
            INSERT INTO web_sessions (digest, user_id, expires_at) VALUES (?, ?, NOW(3) + INTERVAL 1 DAY)
            """, sha256(session.utf8), Int64(user))
        server = try installation.readyServer(setting: [
            "MERGANSER_GOOGLE_JWKS_URL": "\(installation.keySets.url)/keys"
        ])
    }

    /// Just below nginx's limit (`large_client_header_buffers`).
    private static let lineLength = 16_380

    /// - Parameter fill: the start of the last parameter's value, and the byte that fills the line.
    private func authorize(
        _ redirectURI: String, _ more: String = "", filling name: String = "state", with byte: UInt8,
        cookies: Bool = true
    ) throws -> (answer: HTTPConnection.Answer, filled: Int) {
        let state = name == "state" ? "" : "&state=xyz"
        let start = Array(
            """
            GET /oauth/authorize?response_type=code&client_id=\(clientID)&redirect_uri=\(redirectURI)\
            &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256\(state)\(more)&\(name)=
            """.utf8)
        let end = Array(" HTTP/1.1\r\n".utf8)
        let filled = Self.lineLength - start.count - end.count
        let connection = try front.connect()
        let sent = cookies ? "Cookie: merganser_session=\(session); merganser_browser=\(browser)\r\n" : ""
        try connection.send(
            start + Array(repeating: byte, count: filled) + end + Array("Host: localhost\r\n\(sent)\r\n".utf8))
        return (try connection.receiveAnswer(), filled)
    }

    private func post(_ path: String, _ form: String) throws -> HTTPConnection.Answer {
        try front.connect().ask(
            "POST", path,
            headers: [
                ("Content-Type", "application/x-www-form-urlencoded"), ("Origin", "null"),
                ("Cookie", "merganser_session=\(session); merganser_browser=\(browser)"),
            ], body: Array(form.utf8))
    }

    private static let bytes: [(UInt8, String)] = [(UInt8(ascii: "{"), "%7B"), (0xFF, "%FF"), (UInt8(ascii: "a"), "a")]

    @Test(arguments: bytes) func aRefusalComesBackWithItsState(_ byte: UInt8, _ encoded: String) throws {
        for redirectURI in [web, native] {
            let (answer, filled) = try authorize(
                redirectURI, "&scope=openid&prompt=none", with: byte, cookies: false)
            #expect(answer.status == 302)
            #expect(
                answer.header("location")
                    == "\(redirectURI)?error=login_required&error_description=the%20user%20is%20not%20signed%20in&state="
                    + String(repeating: encoded, count: filled))
        }
    }

    @Test(arguments: bytes) func aDecisionComesBackWithItsState(_ byte: UInt8, _ encoded: String) throws {
        for redirectURI in [web, native] {
            for decision in ["deny", "allow"] {
                let (asked, filled) = try authorize(redirectURI, "&scope=openid&prompt=consent", with: byte)
                #expect(asked.status == 303)
                let page = try front.connect().ask(
                    "GET", try #require(asked.header("location")),
                    headers: [("Cookie", "merganser_session=\(session); merganser_browser=\(browser)")])
                let fields = Set(
                    String(decoding: page.body, as: UTF8.self)
                        .matches(of: /<input type="hidden" name="(request|token|account)" value="([^"]*)">/)
                        .map { "\($0.1)=\($0.2)" })
                #expect(page.status == 200 && fields.count == 3)
                let answer = try post(
                    "/oauth/consent", (fields + ["decision=\(decision)"]).joined(separator: "&"))
                let location = try #require(answer.header("location"), "\(answer.status)")
                #expect(answer.status == 302)
                #expect(
                    location.hasPrefix(
                        "\(redirectURI)?\(decision == "deny" ? "error=access_denied" : "code=")"))
                #expect(location.hasSuffix("&state=" + String(repeating: encoded, count: filled)))
            }
        }
    }

    /// Very many scope names, of which every byte is percent-encoded.
    @Test(arguments: [UInt8(ascii: "{"), 0xFF, UInt8(ascii: "a"), UInt8(ascii: "+")])
    func scopesAreRefusedByARedirect(_ byte: UInt8) throws {
        let names = (0..<90).map { "{{{{{{{{{{\($0)" }.joined(separator: "%20")
        for scope in ["", names + "%20"] {
            let (answer, _) = try authorize(native, "&scope=\(scope)", filling: "nonce", with: byte)
            #expect(answer.status == 302)
            let (long, _) = try authorize(native, filling: "scope", with: byte)
            #expect(long.status == 302)
            #expect(long.header("location")?.hasPrefix("\(native)?error=invalid_") == true)
            #expect(long.header("location")?.hasSuffix("&state=xyz") == true)
        }
        let (both, filled) = try authorize(native, "&scope=\(names)", with: byte)
        #expect(both.status == 302 && (both.header("location")?.utf8.count ?? 0) > filled)
        #expect(both.header("location")?.hasPrefix("\(native)?error=invalid_scope&") == true)
    }

    /// An invalid hint is not passed on, so the provider's address fits.
    @Test(arguments: [UInt8(ascii: "{"), 0xFF]) func theWayToAProviderIsShort(_ byte: UInt8) throws {
        let (asked, _) = try authorize(native, "&scope=openid&prompt=login", filling: "login_hint", with: byte)
        let request = try #require(asked.header("location")?.split(separator: "=").last)
        let start = try front.connect().ask(
            "GET", "/auth/google/web/start?request=\(request)", headers: [("Cookie", "merganser_browser=\(browser)")])
        #expect(start.status == 303)
        #expect((start.header("location")?.utf8.count ?? .max) < 4000)
    }

    /// Bodies have no such limit.
    @Test func aDeviceIsAnsweredInJSON() throws {
        for scope in [String(repeating: "{", count: 60_000), String(repeating: "{%20", count: 15_000)] {
            let answer = try post("/oauth/device_authorization", "client_id=\(clientID)&scope=\(scope)")
            #expect(answer.status == 400)
            #expect(String(decoding: answer.body, as: UTF8.self).contains(#""error":"invalid_scope""#))
        }
        let longest = try post("/oauth/device", "user_code=\(String(repeating: "B", count: 60_000))")
        #expect(longest.status == 403)
    }
}
