import HTTP
import JSON
import TestSupport
import Testing
import Time

@testable import API

/// The checks that precede every endpoint of analytics: §2.1 to §2.5.
@Suite struct PipelineTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    private let path = "/v1/identity/claim"

    private func send(
        _ bytes: [UInt8], _ headers: [(name: String, value: String)] = [("content-type", "application/json")]
    ) -> Answer {
        client.send(.post, path, bytes: bytes, token: scene.clientKey, headers: headers)
    }

    private func shapeC(_ status: Int, _ reason: String, _ message: String) -> String {
        #"\#(status) {"statusCode":\#(status),"error":"\#(reason)","message":"\#(message)"}"#
    }

    // MARK: Paths and methods

    @Test(arguments: [
        "/v1/nothing", "/v1/identity/claim/", "/v1/Identity/claim", "/v1/", "/v1/identity", "/v1", "//v1",
        "//v1/ingest",
        "/v1//ingest", "/v1/identity//claim", "/v1/ingest//", "///v1///ingest",
    ])
    func unknownPathsAreNotFound(path: String) {
        for token in [nil, scene.clientKey] {
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
                let answer = client.send(Method(rawValue: method), path, [:], token: token)
                #expect("\(answer)" == shapeC(404, "Not Found", "Route \(method):\(path) not found"))
                #expect(answer.header("Content-Type") == "application/json; charset=utf-8")
            }
        }
    }

    @Test(arguments: ["/v1x", "/v10/ingest", "/V1/ingest", "/api/v1", "/api/v1//me", "//api/v1/me", "/v", "/"])
    func otherPathsAreAnotherSurfaces(path: String) {
        #expect("\(client.send(.get, path))" == refusal(404, "not_found"))
    }

    @Test func otherMethodsAreNotAllowed() {
        let answer = client.send(.delete, path)
        #expect("\(answer)" == shapeC(405, "Method Not Allowed", "Method DELETE not allowed"))
        #expect(answer.header("Allow") == "POST")
    }

    @Test func everyAnswerIsJSONInUTF8() {
        for answer in [client.send(.get, "/v1/x"), client.send(scene.claim("owl_anon_a", "u")), send([])] {
            #expect(answer.header("Content-Type") == "application/json; charset=utf-8")
        }
    }

    // MARK: Keys

    @Test func whoIsNotLetInIsToldWhy() throws {
        let expired = try scene.makeKey(.client, expiresAt: app.time.now)
        let revoked = try scene.makeKey(.client)
        try app.change("UPDATE api_keys SET deleted_at = created_at WHERE last4 = ?", String(revoked.suffix(4)))
        let cases: [(header: String?, text: String)] = [
            (nil, "Missing authorization"), ("", "Invalid authorization format"),
            ("Bearer", "Invalid authorization format"), ("Bearer ", "Invalid authorization format"),
            ("bearer \(scene.clientKey)", "Invalid authorization format"),
            ("Bearer  \(scene.clientKey)", "Invalid authorization format"),
            ("Bearer  ", "Invalid authorization format"),
            (" Bearer \(scene.clientKey)", "Invalid authorization format"),
            ("Bearer\t\(scene.clientKey)", "Invalid authorization format"),
            ("Bearer x \(scene.clientKey)", "Invalid or expired token"),
            ("Bearer \(scene.clientKey)\tx", "Invalid API key"),
            ("Basic \(scene.clientKey)", "Invalid authorization format"),
            ("Bearer owl_client_unknown", "Invalid API key"), ("Bearer owl_agent_", "Invalid API key"),
            ("Bearer owl_import_x", "Invalid API key"), ("Bearer \(revoked)", "Invalid API key"),
            ("Bearer \(expired)", "API key expired"), ("Bearer owl_other_x", "Invalid or expired token"),
            ("Bearer Owl_client_x", "Invalid or expired token"), ("Bearer lpk_live_x", "Invalid or expired token"),
        ]
        for (header, text) in cases {
            // Size, gzip and JSON are not checked.
            for body in [[UInt8](), [0xFF], Array(repeating: 0x20, count: 1_048_577)] {
                let answer = client.send(
                    .post, path, bytes: body,
                    headers: [("content-encoding", "br")] + (header.map { [("authorization", $0)] } ?? []))
                #expect("\(answer)" == refusal(401, text), "\(header ?? "none")")
                #expect(answer.header("WWW-Authenticate") == "Bearer")
            }
        }
        let twice = client.send(
            .post, path,
            headers: [("authorization", "Bearer \(scene.clientKey)"), ("authorization", "Bearer \(scene.clientKey)")])
        #expect("\(twice)" == refusal(401, "Invalid authorization format"))
    }

    @Test(arguments: [" ", " x", "  x", " x y", " Bearer owl_client_unknown"])
    func whatFollowsTheKeyDoesNotCount(rest: String) {
        let answer = client.send(
            .post, path, ["anonymous_id": "owl_anon_a", "user_id": "u"],
            headers: [("authorization", "Bearer \(scene.clientKey)\(rest)")])
        #expect(answer.status == 200)
    }

    @Test func aKeyExpiresOnTime() throws {
        let key = try scene.makeKey(.client, expiresAt: app.time.now + .seconds(60))
        #expect(client.send(scene.claim("owl_anon_a", "u", token: key)).status == 200)
        app.time.advance(by: .milliseconds(59_999))
        #expect(client.send(scene.claim("owl_anon_a", "u", token: key)).status == 200)
        app.time.advance(by: .milliseconds(1))
        #expect("\(client.send(scene.claim("owl_anon_a", "u", token: key)))" == refusal(401, "API key expired"))
    }

    @Test func aMissingPermissionIsNamedBeforeTheBodyIsRead() throws {
        let key = try scene.makeKey(.client, permissions: [.usersWrite])
        let answer = client.send(.post, path, bytes: [0xFF], token: key, headers: [("content-encoding", "br")])
        #expect("\(answer)" == refusal(403, "Missing permission: events:write"))
        let none = try scene.makeKey(.agent, permissions: [])
        #expect(
            "\(client.send(scene.properties("u", [:], token: none)))"
                == refusal(403, "Missing permission: users:write"))
    }

    @Test func theUseOfAKeyIsNotedOnceAMinute() throws {
        func lastUsed() throws -> [String] {
            try app.column("SELECT CAST(last_used_at AS CHAR) FROM api_keys WHERE key_type = 'client'")
        }
        #expect(try lastUsed() == ["NULL"])
        _ = client.send(scene.claim("owl_anon_a", "u"))
        let first = try lastUsed()
        #expect(first != ["NULL"])
        app.time.advance(by: .milliseconds(59_999))
        _ = client.send(scene.claim("owl_anon_a", "u"))
        #expect(try lastUsed() == first)
        app.time.advance(by: .milliseconds(1))
        _ = client.send(scene.claim("owl_anon_a", "u"))
        #expect(try lastUsed() != first)
    }

    @Test func aKeyThatSomebodyElseLocksIsNoReasonToWait() throws {
        let db = try app.database.connect()
        try db.begin()
        _ = try db.all("SELECT last4 FROM api_keys FOR UPDATE") { row in try row.read(String.self) }
        #expect(client.send(scene.claim("owl_anon_a", "u")).status == 200)
        try db.rollback()
    }

    // MARK: Bodies

    @Test func whatIsNoObjectCountsAsEmpty() {
        for text in ["", "null", "[]", "7", #""text""#, "true", "{}", #"[{"anonymous_id":"owl_anon_a"}]"#] {
            #expect("\(send(Array(text.utf8)))" == refusal(400, "anonymous_id is required"), "\(text)")
        }
        // The type of an empty body does not matter.
        #expect("\(send([], []))" == refusal(400, "anonymous_id is required"))
    }

    @Test func plainTextCarriesNoFields() {
        let body = Array(#"{"anonymous_id":"owl_anon_a","user_id":"u"}"#.utf8)
        for type in ["text/plain", "text/plain; charset=utf-8", "TEXT/PLAIN"] {
            #expect("\(send(body, [("content-type", type)]))" == refusal(400, "anonymous_id is required"))
        }
        for type in ["application/json; charset=utf-8", "Application/JSON", "application/json;x=y"] {
            #expect(send(body, [("content-type", type)]).status == 200, "\(type)")
        }
    }

    @Test(arguments: [nil, "", "text/html", "application/x-www-form-urlencoded", "application/jsonx", "json"])
    func otherTypesAreRefused(type: String?) {
        let answer = send([0x7B], type.map { [("content-type", $0)] } ?? [])
        #expect("\(answer)" == shapeC(415, "Unsupported Media Type", "Unsupported Media Type"))
    }

    @Test(arguments: [
        "{", "{}}", "{\"a\":}", "{'a':1}", "{\"a\":01}", "\u{FEFF}{}", "{\"a\":\"\u{1}\"}", "{\"a\":\"\\u12\"}", "nul",
        String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
    ])
    func malformedJSONIsRefused(text: String) {
        #expect("\(send(Array(text.utf8)))" == malformed)
    }

    private var malformed: String {
        shapeC(400, "Bad Request", "Body is not valid JSON but content-type is set to 'application/json'")
    }

    @Test func nestingIsLimitedTo64() {
        let deep = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
        #expect(send(Array(#"{"anonymous_id":"owl_anon_a","user_id":"u","x":\#(deep)}"#.utf8)).status == 200)
        #expect("\(send(Array(#"{"x":[\#(deep)]}"#.utf8)))" == malformed)
    }

    @Test func invalidUTF8IsMalformed() {
        for bytes in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]] {
            #expect("\(send(Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)))" == malformed)
        }
    }

    @Test func ofTwoMembersWithOneNameTheLastCounts() throws {
        let body = #"{"anonymous_id":7,"anonymous_id":"owl_anon_a","user_id":"u","user_id":"v"}"#
        #expect(send(Array(body.utf8)).status == 200)
        #expect(try scene.records() == ["v"])
    }

    @Test func loneSurrogatesAreReplaced() throws {
        #expect(send(Array(#"{"anonymous_id":"owl_anon_a","user_id":"u\ud83d"}"#.utf8)).status == 200)
        #expect(try scene.records() == ["u\u{FFFD}"])
    }

    // MARK: Sizes and gzip

    /// The body of a claim with this many bytes.
    private func claim(size: Int) -> [UInt8] {
        let (start, end) = (Array(#"{"anonymous_id":"owl_anon_a","user_id":"u","x":""#.utf8), Array(#""}"#.utf8))
        return start + Array(repeating: UInt8(ascii: "x"), count: size - start.count - end.count) + end
    }

    private let json = [(name: "content-type", value: "application/json")]
    private var gzip: [(name: String, value: String)] { json + [("content-encoding", "gzip")] }

    @Test func exactlyOneMiBIsTaken() throws {
        #expect(send(claim(size: 1_048_576)).status == 200)
        #expect(send(try gzipped(claim(size: 1_048_576)), gzip).status == 200)
        #expect(send(try gzipped(claim(size: 100)), json + [("content-encoding", "GZIP")]).status == 200)
    }

    @Test func oneByteMoreIsNot() throws {
        #expect("\(send(claim(size: 1_048_577)))" == shapeC(413, "Payload Too Large", "Request body is too large"))
        #expect(
            "\(send(try gzipped(claim(size: 1_048_577)), gzip))"
                == shapeC(413, "Payload Too Large", "Decompressed payload too large"))
        #expect(
            "\(send(Array(repeating: 0, count: 1_048_577), gzip))" == refusal(413, "Compressed payload too large"))
    }

    @Test func aBombIsDefused() throws {
        let bomb = try gzipped(Array(repeating: 0x20, count: 200_000_000))
        #expect(bomb.count < 1_048_576)
        #expect("\(send(bomb, gzip))" == shapeC(413, "Payload Too Large", "Decompressed payload too large"))
    }

    @Test func corruptGzipIsRefused() throws {
        let member = try gzipped(claim(size: 1000))
        let refused = shapeC(400, "Bad Request", "Invalid gzip body")
        for bytes in [
            Array(member.dropLast()), Array(member.prefix(10)), Array(member.dropFirst()), claim(size: 100), [0x1F],
            member + [0],
        ] {
            #expect("\(send(bytes, gzip))" == refused)
        }
        // There is nothing to decompress.
        #expect("\(send([], gzip))" == refusal(400, "anonymous_id is required"))
    }

    @Test(arguments: ["br", "deflate", "gzip, gzip", "identity", "x-gzip"])
    func otherEncodingsAreRefused(encoding: String) {
        let answer = send(claim(size: 100), json + [("content-encoding", encoding)])
        #expect("\(answer)" == shapeC(415, "Unsupported Media Type", "Unsupported Content-Encoding"))
    }

    @Test func sizeComesBeforeTypeAndTypeBeforeFields() throws {
        let large = Array(repeating: UInt8(ascii: "{"), count: 1_048_577)
        #expect(send(large, [("content-type", "text/html")]).status == 413)
        #expect(send([0xFF], [("content-type", "text/html")]).status == 415)
        #expect(send([0xFF], [("content-type", "text/html"), ("content-encoding", "gzip")]).status == 400)
    }
}
