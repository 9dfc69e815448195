import Analytics
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// The checks that precede every endpoint of analytics: §2.1 to §2.5.
@Suite struct PipelineTests {
    /// A client of a project's app.
    private struct Sender {
        let app: TestApp
        let scene: AnalyticsScene
        let client: Client
        let path = "/v1/identity/claim"

        init(through doorway: Doorway) throws {
            app = try TestApp(through: doorway)
            scene = try AnalyticsScene(app)
            client = app.client()
        }

        func send(
            _ bytes: [UInt8], _ headers: [(name: String, value: String)] = [("content-type", "application/json")]
        ) -> Answer {
            client.send(.post, path, bytes: bytes, token: scene.clientKey, headers: headers)
        }

        func send(_ text: String) -> Answer { send(Array(text.utf8)) }
    }

    private func shapeC(_ status: Int, _ reason: String, _ message: String) -> String {
        #"\#(status) {"statusCode":\#(status),"error":"\#(reason)","message":"\#(message)"}"#
    }

    // MARK: Paths and methods

    @Test(arguments: Doorway.allCases) func unknownPathsAreNotFound(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        for path in [
            "/v1/nothing", "/v1/identity/claim/", "/v1/Identity/claim", "/v1/", "/v1/identity", "/v1", "//v1",
            "//v1/ingest", "/v1//ingest", "/v1/identity//claim", "/v1/ingest//", "///v1", "///v1///ingest",
        ] {
            for token in [nil, sender.scene.clientKey] {
                for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
                    let answer = sender.client.send(Method(rawValue: method), path, [:], token: token)
                    // That no body follows HEAD is the connection's business.
                    let hasBody = doorway == .inProcess || method != "HEAD"
                    let refused = shapeC(404, "Not Found", "Route \(method):\(path) not found")
                    #expect("\(answer)" == (hasBody ? refused : "404"))
                    #expect(answer.header("Content-Type") == "application/json; charset=utf-8")
                }
            }
        }
    }

    @Test(arguments: Doorway.allCases) func otherPathsAreAnotherSurfaces(through doorway: Doorway) throws {
        let client = try TestApp(through: doorway).client()
        for path in [
            "/v1x", "/v10/ingest", "/V1/ingest", "/api/v1", "/api/v1//me", "/api//v1/me", "//api/v1/me", "/v", "/",
            "//", "//healthz", "//oauth/authorize",
        ] {
            #expect("\(client.send(.get, path))" == refusal(404, "not_found"), "\(path)")
        }
    }

    @Test(arguments: Doorway.allCases) func otherMethodsAreNotAllowed(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        let answer = sender.client.send(.delete, sender.path)
        #expect("\(answer)" == shapeC(405, "Method Not Allowed", "Method DELETE not allowed"))
        #expect(answer.header("Allow") == "POST")
    }

    @Test(arguments: Doorway.allCases) func everyAnswerIsJSONInUTF8(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        for answer in [
            sender.client.send(.get, "/v1/x"), sender.client.send(sender.scene.claim("owl_anon_a", "u")),
            sender.send([]),
        ] {
            #expect(answer.header("Content-Type") == "application/json; charset=utf-8")
        }
    }

    // MARK: Keys

    @Test(arguments: Doorway.allCases) func whoIsNotLetInIsToldWhy(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        let (app, scene) = (sender.app, sender.scene)
        let expired = try scene.makeKey(.client, expiresAt: app.time.now)
        let revoked = try scene.makeKey(.client)
        try app.change(
            "UPDATE api_keys SET deleted_at = created_at WHERE team_id = ? AND last4 = ?", scene.team,
            String(revoked.suffix(4)))
        var cases: [(header: String?, text: String)] = [
            (nil, "Missing authorization"),
            ("Bearer", "Invalid authorization format"), ("Bearer ", "Invalid authorization format"),
            ("bearer \(scene.clientKey)", "Invalid authorization format"),
            ("Bearer  \(scene.clientKey)", "Invalid authorization format"),
            ("Bearer  ", "Invalid authorization format"),
            ("Bearer\t\(scene.clientKey)", "Invalid authorization format"),
            ("Bearer x \(scene.clientKey)", "Invalid or expired token"),
            ("Bearer \(scene.clientKey)\tx", "Invalid API key"),
            ("Basic \(scene.clientKey)", "Invalid authorization format"),
            ("Bearer owl_client_unknown", "Invalid API key"), ("Bearer owl_agent_", "Invalid API key"),
            ("Bearer owl_import_x", "Invalid API key"), ("Bearer \(revoked)", "Invalid API key"),
            ("Bearer \(expired)", "API key expired"), ("Bearer owl_other_x", "Invalid or expired token"),
            ("Bearer Owl_client_x", "Invalid or expired token"), ("Bearer lpk_live_x", "Invalid or expired token"),
        ]
        // nginx takes the space away, and a field without a value.
        if doorway == .inProcess {
            cases += [
                ("", "Invalid authorization format"), (" Bearer \(scene.clientKey)", "Invalid authorization format"),
            ]
        }
        for (header, text) in cases {
            // Size, gzip and JSON are not checked.
            for body in [[UInt8](), [0xFF], Array(repeating: 0x20, count: 1_048_577)] {
                let answer = sender.client.send(
                    .post, sender.path, bytes: body,
                    headers: [("content-encoding", "br")] + (header.map { [("authorization", $0)] } ?? []))
                #expect("\(answer)" == refusal(401, text), "\(header ?? "none")")
                #expect(answer.header("WWW-Authenticate") == "Bearer")
            }
        }
        let twice = sender.client.send(
            .post, sender.path,
            headers: [("authorization", "Bearer \(scene.clientKey)"), ("authorization", "Bearer \(scene.clientKey)")])
        // nginx judges by itself whether there are two.
        let isRead = doorway == .inProcess
        #expect(
            "\(twice)"
                == (isRead
                    ? refusal(401, "Invalid authorization format") : shapeC(400, "Bad Request", "Invalid request")))
    }

    @Test(arguments: Doorway.allCases) func whatFollowsTheKeyDoesNotCount(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        for rest in [" ", " x", "  x", " x y", " Bearer owl_client_unknown"] {
            let answer = sender.client.send(
                .post, sender.path, ["anonymous_id": "owl_anon_a", "user_id": "u"],
                headers: [("authorization", "Bearer \(sender.scene.clientKey)\(rest)")])
            #expect(answer.status == 200, "\(rest)")
        }
    }

    @Test(arguments: Doorway.allCases)
    func aMissingPermissionIsNamedBeforeTheBodyIsRead(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        let scene = sender.scene
        let key = try scene.makeKey(.client, permissions: [.usersWrite])
        let answer = sender.client.send(
            .post, sender.path, bytes: [0xFF], token: key, headers: [("content-encoding", "br")])
        #expect("\(answer)" == refusal(403, "Missing permission: events:write"))
        let none = try scene.makeKey(.agent, permissions: [])
        #expect(
            "\(sender.client.send(scene.properties("u", [:], token: none)))"
                == refusal(403, "Missing permission: users:write"))
    }

    // MARK: Bodies

    @Test(arguments: Doorway.allCases) func whatIsNoObjectCountsAsEmpty(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        for text in ["", "null", "[]", "7", #""text""#, "true", "{}", #"[{"anonymous_id":"owl_anon_a"}]"#] {
            #expect("\(sender.send(text))" == refusal(400, "anonymous_id is required"), "\(text)")
        }
        // The type of an empty body does not matter.
        #expect("\(sender.send([], []))" == refusal(400, "anonymous_id is required"))
    }

    @Test(arguments: Doorway.allCases) func plainTextCarriesNoFields(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        let body = Array(#"{"anonymous_id":"owl_anon_a","user_id":"u"}"#.utf8)
        for type in ["text/plain", "text/plain; charset=utf-8", "TEXT/PLAIN"] {
            #expect("\(sender.send(body, [("content-type", type)]))" == refusal(400, "anonymous_id is required"))
        }
        for type in ["application/json; charset=utf-8", "Application/JSON", "application/json;x=y"] {
            #expect(sender.send(body, [("content-type", type)]).status == 200, "\(type)")
        }
    }

    @Test(arguments: Doorway.allCases) func otherTypesAreRefused(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        for type in [nil, "", "text/html", "application/x-www-form-urlencoded", "application/jsonx", "json"] {
            let answer = sender.send([0x7B], type.map { [("content-type", $0)] } ?? [])
            #expect(
                "\(answer)" == shapeC(415, "Unsupported Media Type", "Unsupported Media Type"), "\(type ?? "none")")
        }
    }

    @Test(arguments: Doorway.allCases) func malformedJSONIsRefused(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        for text in [
            "{", "{}}", "{\"a\":}", "{'a':1}", "{\"a\":01}", "\u{FEFF}{}", "{\"a\":\"\u{1}\"}", "{\"a\":\"\\u12\"}",
            "nul", String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
        ] {
            #expect("\(sender.send(text))" == malformed, "\(text)")
        }
        for bytes in [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xC0, 0x80]] as [[UInt8]] {
            let text = Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)
            #expect("\(sender.send(text))" == malformed, "\(bytes)")
        }
    }

    private var malformed: String {
        shapeC(400, "Bad Request", "Body is not valid JSON but content-type is set to 'application/json'")
    }

    @Test(arguments: Doorway.allCases) func nestingIsLimitedTo64(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        let deep = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
        #expect(sender.send(#"{"anonymous_id":"owl_anon_a","user_id":"u","x":\#(deep)}"#).status == 200)
        #expect("\(sender.send(#"{"x":[\#(deep)]}"#))" == malformed)
    }

    @Test(arguments: Doorway.allCases) func ofTwoMembersWithOneNameTheLastCounts(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        let body = #"{"anonymous_id":7,"anonymous_id":"owl_anon_a","user_id":"u","user_id":"v"}"#
        #expect(sender.send(body).status == 200)
        #expect(try sender.scene.records() == ["v"])
    }

    @Test(arguments: Doorway.allCases) func loneSurrogatesAreReplaced(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        #expect(sender.send(#"{"anonymous_id":"owl_anon_a","user_id":"u\ud83d"}"#).status == 200)
        #expect(try sender.scene.records() == ["u\u{FFFD}"])
    }

    // MARK: Sizes and gzip

    /// The body of a claim with this many bytes.
    private func claim(size: Int) -> [UInt8] {
        let (start, end) = (Array(#"{"anonymous_id":"owl_anon_a","user_id":"u","x":""#.utf8), Array(#""}"#.utf8))
        return start + Array(repeating: UInt8(ascii: "x"), count: size - start.count - end.count) + end
    }

    private let json = [(name: "content-type", value: "application/json")]
    private var gzip: [(name: String, value: String)] { json + [("content-encoding", "gzip")] }

    @Test(arguments: Doorway.allCases) func exactlyOneMiBIsTaken(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        #expect(sender.send(claim(size: 1_048_576)).status == 200)
        #expect(sender.send(try gzipped(claim(size: 1_048_576)), gzip).status == 200)
        #expect(sender.send(try gzipped(claim(size: 100)), json + [("content-encoding", "GZIP")]).status == 200)
    }

    @Test(arguments: Doorway.allCases) func oneByteMoreIsNot(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        #expect(
            "\(sender.send(claim(size: 1_048_577)))" == shapeC(413, "Payload Too Large", "Request body is too large"))
        #expect(
            "\(sender.send(try gzipped(claim(size: 1_048_577)), gzip))"
                == shapeC(413, "Payload Too Large", "Decompressed payload too large"))
        #expect(
            "\(sender.send(Array(repeating: 0, count: 1_048_577), gzip))"
                == refusal(413, "Compressed payload too large"))
    }

    @Test(arguments: Doorway.allCases) func aBombIsDefused(through doorway: Doorway) throws {
        let bomb = try gzipped(Array(repeating: 0x20, count: 200_000_000))
        #expect(bomb.count < 1_048_576)
        let answer = try Sender(through: doorway).send(bomb, gzip)
        #expect("\(answer)" == shapeC(413, "Payload Too Large", "Decompressed payload too large"))
    }

    @Test(arguments: Doorway.allCases) func corruptGzipIsRefused(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        let member = try gzipped(claim(size: 1000))
        let refused = shapeC(400, "Bad Request", "Invalid gzip body")
        for bytes in [
            Array(member.dropLast()), Array(member.prefix(10)), Array(member.dropFirst()), claim(size: 100), [0x1F],
            member + [0],
        ] {
            #expect("\(sender.send(bytes, gzip))" == refused)
        }
        // There is nothing to decompress.
        #expect("\(sender.send([], gzip))" == refusal(400, "anonymous_id is required"))
    }

    @Test(arguments: Doorway.allCases) func otherEncodingsAreRefused(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        for encoding in ["br", "deflate", "gzip, gzip", "identity", "x-gzip"] {
            let answer = sender.send(claim(size: 100), json + [("content-encoding", encoding)])
            #expect(
                "\(answer)" == shapeC(415, "Unsupported Media Type", "Unsupported Content-Encoding"), "\(encoding)")
        }
    }

    @Test(arguments: Doorway.allCases)
    func sizeComesBeforeTypeAndTypeBeforeFields(through doorway: Doorway) throws {
        let sender = try Sender(through: doorway)
        let large = Array(repeating: UInt8(ascii: "{"), count: 1_048_577)
        #expect(sender.send(large, [("content-type", "text/html")]).status == 413)
        #expect(sender.send([0xFF], [("content-type", "text/html")]).status == 415)
        #expect(sender.send([0xFF], [("content-type", "text/html"), ("content-encoding", "gzip")]).status == 400)
    }
}
