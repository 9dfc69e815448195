import Analytics
import Foundation
import HTTP
import JSON
import MariaDB
import Synchronization
import TestSupport
import Testing

@testable import API

/// No key and no user data that an app sends is ever logged, and no key is stored (analytics §2.5).
///
/// Every route gets the same body. It has a member for everything that any route reads, so that future routes are
/// covered.
@Suite struct AnalyticsSecretsTests {
    let app: TestApp
    let scene: AnalyticsScene
    private let marks = Marks()

    init() throws {
        app = try TestApp(analytics: { settings in
            settings.isDevelopment = true
            settings.attributionEndpoint = "https://127.0.0.1:1/"
        })
        scene = try AnalyticsScene(app)
        try scene.makeQuestionnaire()
    }

    /// The words that the test looks for afterwards.
    private final class Marks: Sendable {
        private let given = Mutex<[String]>([])

        var all: [String] { given.withLock { $0 } }

        func next() -> String {
            given.withLock { given in
                given.append("zq\(given.count)x" + String(UInt64.random(in: .min ... .max), radix: 36))
                return given[given.count - 1]
            }
        }

        func value() -> JSONValue { .string(next()) }
    }

    /// - Parameter isFine: whether the body is valid; otherwise it has what most routes refuse.
    private func body(isFine: Bool) -> JSONValue {
        let session = JSONValue.string(uuid(1))
        var event: JSONValue = ["level": "info", "session_id": session, "client_event_id": session]
        var body: JSONValue = [
            "bundle_id": "com.example", "session_id": session, "client_event_id": session,
            "answers": ["words": marks.value()], "content_type": "text/plain", "size_bytes": 5,
            "sha256": .string(String(repeating: "a", count: 64)), "submitter_email": .string(marks.next() + "@b.c"),
            "anonymous_id": .string("owl_anon_" + marks.next()), "properties": .object(object(2)),
            "environment": "ios", "dev_mock": "attributed",
        ]
        let fields = [
            "message", "user_id", "source_module", "screen_name", "os_version", "app_version", "sdk_name",
            "sdk_version", "device_model", "build_number", "locale", "preferred_language",
        ]
        for field in fields { event = event.adding([field: marks.value()]) }
        for field in fields + ["submitter_name", "attribution_token", "original_filename"] {
            body = body.adding([field: marks.value()])
        }
        if !isFine {
            let mark = marks.value()
            event = event.adding(["environment": mark, "session_id": mark, "custom_attributes": mark])
            body = body.adding([
                "bundle_id": mark, "answers": [marks.next(): mark], "properties": [marks.next(): [mark]],
                "session_id": mark, "environment": mark, "content_type": mark, "sha256": mark, "dev_mock": mark,
                "client_event_id": mark,
            ])
        }
        let attributes = JSONValue.object(
            JSONObject(object(2).members.map { ($0.name, $0.value) } + [("_error_stack", marks.value())]))
        return body.adding(["events": [isFine ? event.adding(["custom_attributes": attributes]) : event]])
    }

    private func object(_ count: Int) -> JSONObject {
        JSONObject((1...count).map { _ in (marks.next(), marks.value()) })
    }

    /// The paths of a route: with an id, with known names, and with an unknown name.
    private func paths(_ route: Route) -> [String] {
        let parts = route.pattern.split(separator: /\{[a-z_]+\}/, omittingEmptySubsequences: false)
        guard parts.count > 1 else { return [route.pattern] }
        return [uuid(1), "survey", "apple-search-ads", marks.next()].map { parts.joined(separator: $0) }
    }

    private var query: String {
        "bundle_id=com.example"
            + ["user_id", "search", "cursor", "level", "session_id", "screen_name", "since", "t", marks.next()]
            .map { "&\($0)=\(marks.next())" }.joined()
    }

    /// - Returns: the statuses of the answers.
    @discardableResult
    private func askEverything(_ client: Client, tokens: [String], isFine: Bool = true) -> [Int] {
        Routes.analytics.flatMap { route in
            paths(route).flatMap { path in
                tokens.map { token in
                    client.send(
                        route.method, "\(path)?\(query)", route.method == .get ? nil : body(isFine: isFine),
                        token: token, headers: [("cf-ipcountry", marks.next()), ("user-agent", marks.next())]
                    ).status
                }
            }
        }
    }

    private var keys: [String] { [scene.clientKey, scene.importKey, scene.agentKey] }

    private func leaks(in log: RecordedLog) -> [String] { leaks(in: log.lines.joined(separator: "\n")) }

    private func leaks(in text: String) -> [String] { (marks.all + keys.flatMap(forms)).filter { text.contains($0) } }

    /// A key, and its secret part.
    private func forms(of key: String) -> [String] { [key, String(key.dropFirst(11))] }

    @Test func nothingIsLoggedOfRequestsThatAreAnswered() throws {
        let client = app.client()
        let statuses = askEverything(client, tokens: keys)
        #expect(Set([200, 201, 400, 403]).isSubset(of: statuses))
        #expect(!statuses.contains(500))
        askEverything(client, tokens: keys, isFine: false)
        #expect(app.log.lines.count > statuses.count)
        #expect(leaks(in: app.log) == [])
    }

    @Test func nothingIsLoggedOfRequestsThatCannotBeRead() {
        let client = app.client()
        for route in Routes.analytics {
            for path in paths(route) {
                func send(_ bytes: [UInt8], _ headers: [(name: String, value: String)]) {
                    _ = client.send(route.method, path, bytes: bytes, token: scene.clientKey, headers: headers)
                }
                let text = Array("{\"message\": \"\(marks.next())\", \"\(marks.next())\"".utf8)
                send(text, [("content-type", "application/json")])
                send(text, [("content-type", marks.next())])
                send(text, [("content-type", "application/json"), ("content-encoding", "gzip")])
                send(text, [("content-type", "application/json"), ("content-encoding", marks.next())])
                send(Array(repeating: 0x20, count: 1_100_000) + text, [("content-type", "application/json")])
                for header in ["Basic \(scene.clientKey)", "Bearer", "bearer \(scene.clientKey)", scene.clientKey] {
                    _ = client.send(route.method, path, bytes: text, headers: [("authorization", header)])
                }
                for prefix in ["owl_client_", "owl_import_", "owl_agent_", ""] {
                    _ = client.send(route.method, path, bytes: text, token: prefix + marks.next())
                }
            }
        }
        _ = client.send(.get, "/v1/\(marks.next())?\(query)", token: scene.clientKey)
        _ = client.send(.put, "/v1/feedback?\(query)", body(isFine: true), token: scene.clientKey)
        #expect(leaks(in: app.log) == [])
    }

    @Test func nothingIsLoggedOfRequestsThatTheDatabaseFails() throws {
        let failures = try TransientFailures(app)
        let client = app.client()
        for code in [1644, 1927, 1406] {
            app.time.advance(by: .seconds(61))
            try failures.fail(1...1_000_000, with: code)
            let statuses = askEverything(client, tokens: [scene.clientKey, scene.importKey])
            #expect(statuses.contains { $0 >= 500 })
        }
        try failures.stop()
        #expect(app.log.lines.contains { $0.contains("request failed") })
        #expect(leaks(in: app.log) == [])
    }

    /// Errors whose text would contain a value.
    @Test func nothingIsLoggedOfValuesThatTheDatabaseRefuses() throws {
        let client = app.client()
        let db = try app.database.connect()
        try db.executeScript(
            """
            ALTER TABLE feedback ADD UNIQUE KEY unforeseen (submitter_name);
            ALTER TABLE feedback MODIFY sdk_name VARCHAR(50) CHARACTER SET latin1;
            ALTER TABLE feedback MODIFY sdk_version VARCHAR(3);
            ALTER TABLE questionnaire_responses MODIFY os_version INT;
            ALTER TABLE app_users ADD CONSTRAINT unforeseen CHECK (user_id NOT LIKE 'zq%refused');
            """)
        let name = marks.value()
        #expect(client.send(scene.feedback(["submitter_name": name])).status == 201)
        let requests = [
            scene.feedback(["submitter_name": name]), scene.feedback(["sdk_name": .string("🦆" + marks.next())]),
            scene.feedback(["sdk_version": marks.value()]),
            scene.respond(["words": marks.value()], ["os_version": marks.value()]),
            scene.properties(.string(marks.next() + "refused"), ["plan": marks.value()]),
        ]
        for request in requests { #expect(client.send(request).status == 500) }
        #expect(app.log.lines.filter { $0.contains("request failed") }.count == requests.count)
        #expect(leaks(in: app.log) == [])
    }

    @Test func nothingIsLoggedWithoutADatabase() throws {
        var options = app.database.options
        options.address = .unixSocket("/nonexistent/socket")
        let broken = try TestApp(options: options)
        let client = broken.client()
        #expect(Set(askEverything(client, tokens: keys)).contains(503))
        #expect(broken.log.lines.contains { $0.contains("database unavailable") })
        #expect(leaks(in: broken.log) == [])
    }

    /// Proves that the search finds what is logged.
    @Test func theSearchFindsWhatIsLogged() {
        let requestID = marks.next()
        askEverything(app.client(), tokens: [scene.clientKey])
        _ = app.client().send(.get, "/v1/questionnaires/survey", token: scene.clientKey, requestID: requestID)
        #expect(leaks(in: app.log) == [requestID])
        #expect(leaks(in: "… \(scene.agentKey.dropFirst(11)) …").count == 1)
    }

    @Test func noKeyIsStored() throws {
        askEverything(app.client(), tokens: keys)
        let dump = try app.database.dump()
        #expect(keys.flatMap(forms).filter { dump.contains($0) } == [])
        // Proves that the search can find something: the database has the user data.
        #expect(marks.all.contains { dump.contains($0) })
    }
}
