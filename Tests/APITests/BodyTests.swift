import HTTP
import JSON
import TestSupport
import Testing

/// Bodies: what counts as JSON, what counts as absent, and wrong types (accounts §0.1).
@Suite struct BodyTests {
    let app: TestApp
    let client: Client
    let phone: Phone

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.bootstrap()
    }

    /// Every endpoint that reads a body, with a body it accepts. Unknown members may be anything.
    private var endpoints: [(method: Method, path: String, body: JSONValue)] {
        let device: JSONValue = ["device_uuid": .string(phone.uuid), "platform": "ios"]
        let secret: JSONValue = ["device_secret": .string(phone.secret), "device_name": "name"]
        let proof = app.proof().adding(["full_name": ["given_name": "Ada", "family_name": "Lovelace"]])
        return [
            (.post, "/api/v1/devices", device.adding(["device_secret": secret["device_secret"], "device_name": "n"])),
            (
                .post, "/api/v1/auth/anonymous_bootstrap",
                secret.adding(["device_id": .string(phone.uuid), "device_platform": "ios"])
            ),
            (
                .post, "/api/v1/auth/apple/session",
                proof.adding([
                    "device_uuid": .string(uuid(99)), "platform": "web", "device_secret": "unused",
                    "authorization_code": "code",
                ])
            ),
            (.patch, "/api/v1/me", ["name": "n", "nickname": "n", "contact_email": "a@example.com"]),
            (.post, "/api/v1/me/connected_identities", proof.adding(["provider": "apple"])),
        ]
    }

    private func send(_ endpoint: (method: Method, path: String, body: JSONValue), _ body: [UInt8]) -> Answer {
        let isOpen = !endpoint.path.contains("/me")
        return client.send(endpoint.method, endpoint.path, bytes: body, token: isOpen ? nil : phone.token)
    }

    @Test func whatIsNoObjectIsRefused() throws {
        let texts = [
            "[]", "null", "true", "5", #""text""#, "{", "}", "{}{}", "{} x", "{'a':1}", #"{"a":1,}"#, #"{"a" 1}"#,
            "{a:1}", #"{"a":01}"#, #"{"a":NaN}"#, "// {}", " ", "\u{FEFF}{}", "{\"a\":\"\u{1}\"}", #"{"a":"\x"}"#,
            "a=b&c=d",
        ]
        let notUTF8: [[UInt8]] = [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]]
        let bodies =
            texts.map { Array($0.utf8) } + notUTF8.map { Array(#"{"x":""#.utf8) + $0 + Array(#""}"#.utf8) }
        try app.expectUnchanged {
            for endpoint in endpoints {
                for body in bodies {
                    #expect("\(send(endpoint, body))" == refusal(400, "invalid_request"), "\(endpoint.path) \(body)")
                }
            }
        }
    }

    @Test func nestingHasALimit() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array((#"{"x":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}").utf8)
        }
        #expect(client.send(.patch, "/api/v1/me", bytes: nested(63), token: phone.token).status == 200)
        for depth in [64, 30_000] {
            let answer = client.send(.patch, "/api/v1/me", bytes: nested(depth), token: phone.token)
            #expect("\(answer)" == refusal(400, "invalid_request"))
        }
    }

    @Test func anAbsentBodyCountsAsAnEmptyObject() throws {
        for endpoint in endpoints {
            #expect("\(send(endpoint, []))" == "\(send(endpoint, Array("{}".utf8)))", "\(endpoint.path)")
        }
        #expect(client.send(.patch, "/api/v1/me", bytes: [], token: phone.token).status == 200)
    }

    @Test func unknownMembersAndContentTypesAreIgnored() throws {
        let body: JSONValue = [
            "device_uuid": .string(uuid(2)), "platform": "ios", "device": ["uuid": 5], "": [], "Platform": 1,
        ]
        for (number, type) in ["text/plain", "application/x-www-form-urlencoded", "nonsense"].enumerated() {
            let answer = client.send(
                .post, "/api/v1/devices", body.adding(["device_uuid": .string(uuid(10 + number))]),
                headers: [("content-type", type)])
            #expect(answer.status == 200)
        }
    }

    @Test func aKnownMemberOfAnotherTypeIsRefused() throws {
        let others: [JSONValue] = [5, 1.5, true, [], ["text"], [:], "text"]
        try app.expectUnchanged {
            for endpoint in endpoints {
                guard case .object(let members) = endpoint.body else { continue }
                for (name, value) in members.members.map({ ($0.name, $0.value) }) where name != "authorization_code" {
                    for other in others where !other.hasType(of: value) {
                        let answer = send(endpoint, endpoint.body.adding([name: other]).json())
                        #expect("\(answer)" == refusal(400, "invalid_request"), "\(endpoint.path) \(name): \(other)")
                    }
                }
                if endpoint.body["full_name"] != nil {
                    let body = endpoint.body.adding(["full_name": ["given_name": 5]])
                    #expect("\(send(endpoint, body.json()))" == refusal(400, "invalid_request"), "\(endpoint.path)")
                }
            }
        }
    }

    /// An endpoint answers a null member like an absent one.
    @Test func nullCountsAsAbsent() throws {
        for endpoint in endpoints where endpoint.method != .patch {
            guard case .object(let object) = endpoint.body else { continue }
            for name in object.members.map(\.name) {
                let without = JSONValue.object(
                    JSONObject(object.members.filter { $0.name != name }.map { ($0.name, $0.value) }))
                let absent = send(endpoint, without.json())
                let null = send(endpoint, without.adding([name: JSONValue.null]).json())
                #expect(absent.status == null.status && absent.error == null.error, "\(endpoint.path) \(name)")
            }
        }
    }

    /// A body is parsed once, however many parts of the server read it: endpoints use the call's copy.
    @Test func noEndpointParsesTheBodyItself() throws {
        let parsers = try Repository.sources(with: /\(json: (?:call\.)?body\b|\bParsedJSON\(/, outside: ["JSON/"])
        #expect(parsers.contains("API/Routing/Call.swift"))
        #expect(parsers.isSubset(of: ["API/Routing/Call.swift", "API/Routing/Call+Fields.swift"]))
    }
}

extension JSONValue {
    fileprivate func hasType(of other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string, .string), (.object, .object): true
        default: false
        }
    }
}
