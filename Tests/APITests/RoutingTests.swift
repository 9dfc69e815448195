import HTTP
import Testing

@testable import API

/// Paths, methods, sizes of bodies, and headers of every answer (accounts §0.1, §0.2).
@Suite struct RoutingTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    /// nginx passes none of these on.
    @Test func pathsThatAreNoneAreNotFound() {
        for path in ["", "api/v1/devices", "/api/v1/me\u{0}"] {
            for method in [Method.get, .post, .delete] {
                #expect("\(client.send(method, path))" == refusal(404, "not_found"), "\(method.rawValue) \(path)")
            }
        }
    }

    @Test func pathsOfOAuthRefuseInItsForm() {
        for path in ["/oauth/nothing", "/oauth/token/", "/oauth/subs/17/18"] {
            #expect(
                "\(client.send(.get, path, requestID: "f00d"))" == """
                    404 {"error":"not_found","error_description":"Not Found",\
                    "error_uri":"https://id.example/oauth/errors#not_found","request_id":"f00d"}
                    """)
        }
    }

    // MARK: Sizes

    /// JSON with exactly this many bytes.
    private func body(_ members: String, size: Int) -> [UInt8] {
        let start = Array(#"{"padding":""#.utf8)
        let end = Array(("\"" + members + "}").utf8)
        return start + Array(repeating: UInt8(ascii: "x"), count: size - start.count - end.count) + end
    }

    @Test func aLargerBodyIsRefusedBeforeAnythingElse() throws {
        for route in Routes.accounts {
            let path = route.pattern.replacing("{provider}", with: "nobody")
            let answer = client.send(
                route.method, path, bytes: body("", size: 65_537), headers: [("idempotency-key", "not visible")])
            #expect("\(answer)" == refusal(413, "payload_too_large"), "\(route.method.rawValue) \(path)")
        }
        #expect(client.send(.post, "/api/v1/nothing", bytes: body("", size: 65_537)).status == 404)
        #expect(client.send(.put, "/api/v1/devices", bytes: body("", size: 65_537)).status == 405)
    }

    @Test func theLimitHoldsForBodiesOfUnannouncedLength() throws {
        func answer(_ size: Int) -> Answer {
            let members = #","device_uuid":"\#(uuid(1))","platform":"ios""#
            return client.send(
                Request(method: .post, path: "/api/v1/devices", body: StreamedBody(body(members, size: size))))
        }
        #expect("\(answer(65_537))" == refusal(413, "payload_too_large"))
        #expect(answer(65_536).status == 200)
    }

    @Test func aTruncatedBodyIsRefused() throws {
        try app.expectUnchanged {
            let body = StreamedBody(
                Array(#"{"device_uuid":"\#(uuid(1))","platform":"ios"}"#.utf8), endingWith: .incomplete)
            let answer = client.send(Request(method: .post, path: "/api/v1/devices", body: body))
            #expect("\(answer)" == refusal(400, "invalid_request"))
        }
    }

    // MARK: What every answer carries

    @Test func everyAnswerCarriesTheRequestIDAndIsNotStored() throws {
        let phone = try client.bootstrap()
        let answers = [
            client.send(.get, "/api/v1/me", token: phone.token, requestID: "0123456789abcdef"),
            client.send(.get, "/api/v1/me", requestID: "0123456789abcdef"),
            client.send(.get, "/nothing", requestID: "0123456789abcdef"),
            client.send(.get, "/api/v1/devices", requestID: "0123456789abcdef"),
            client.send(.post, "/api/v1/devices", bytes: body("", size: 65_537), requestID: "0123456789abcdef"),
            client.send(.post, "/api/v1/devices", bytes: [1], requestID: "0123456789abcdef"),
            client.send(.delete, "/api/v1/auth/session", token: phone.token, requestID: "0123456789abcdef"),
        ]
        #expect(answers.map(\.status) == [200, 401, 404, 405, 413, 400, 204])
        for answer in answers {
            #expect(answer.header("X-Request-Id") == "0123456789abcdef")
            #expect(answer.header("X-Logi-Request-Id") == "0123456789abcdef")
            #expect(answer.header("Cache-Control") == "no-store")
            let names = answer.response.headers.map { $0.name.lowercased() }
            #expect(Set(names).count == names.count, "\(names)")
        }
    }

    @Test func aRequestIDIsMadeWhereNoneIsGiven() {
        let given = [nil, nil, "", "with space", "line\nfeed", "é", String(repeating: "x", count: 65)]
        let ids = given.map { client.send(.get, "/nothing", requestID: $0).header("X-Request-Id") ?? "" }
        for id in ids { #expect(id.wholeMatch(of: /[0-9a-f]{32}/) != nil, "\(id)") }
        #expect(Set(ids).count == given.count)
    }

    @Test func anInternalErrorTellsNothingAndIsLogged() throws {
        let phone = try client.bootstrap()
        try app.change("ALTER TABLE users DROP COLUMN nickname")
        let answer = client.send(.get, "/api/v1/me", token: phone.token, requestID: "f00d")
        #expect("\(answer)" == #"500 {"error":"internal_error","request_id":"f00d"}"#)
        let lines = app.log.lines.filter { $0.hasPrefix("error") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains("f00d") == true && lines.first?.contains("nickname") == true, "\(lines)")
        #expect(!app.log.lines.contains { $0.contains(phone.token) })
    }
}

/// A body without an announced length.
private final class StreamedBody: RequestBody {
    let length: Int? = nil
    private var rest: ArraySlice<UInt8>
    private let failure: BodyError?

    init(_ bytes: [UInt8], endingWith failure: BodyError? = nil) {
        rest = bytes[...]
        self.failure = failure
    }

    func read(atMost count: Int) throws(BodyError) -> [UInt8] {
        if rest.isEmpty, let failure { throw failure }
        let part = rest.prefix(min(count, 1000))
        rest = rest.dropFirst(part.count)
        return Array(part)
    }
}
