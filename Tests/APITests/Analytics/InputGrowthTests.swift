import HTTP
import JSON
import TestSupport
import Testing

/// No request costs more than n log n. Each body grows up to the limit of 1 MiB or of the request's own checks, and its
/// cost is compared with its size.
@Suite struct InputGrowthTests {
    struct Input: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let path: String
        /// The largest number. Its cost is compared with that of a quarter.
        let limit: Int
        /// The start of the answer.
        let answer: String
        let body: @Sendable (Int) -> String

        init(
            _ name: String, _ path: String, _ limit: Int, _ answer: String, _ body: @escaping @Sendable (Int) -> String
        ) {
            testDescription = name
            self.path = path
            self.limit = limit
            self.answer = answer
            self.body = body
        }
    }

    private static let properties = "/v1/identity/properties"
    private static let responses = "/v1/questionnaires/survey/responses"
    private static let accepted = #"200 {"accepted":1,"#
    private static let rejected = #"200 {"accepted":0,"rejected":1,"#

    /// Members `"k0":"v"` and so on.
    private static func members(_ count: Int, _ value: String = #""v""#) -> String {
        (0..<count).map { "\"k\($0)\":\(value)" }.joined(separator: ",")
    }

    private static func list(_ count: Int, _ element: (Int) -> String) -> String {
        "[\((0..<count).map(element).joined(separator: ","))]"
    }

    /// This many pairs of combining marks in non-canonical order. Canonical comparison must sort them.
    private static func marks(_ count: Int) -> String { String(repeating: "\u{300}\u{316}", count: count) }

    private static func event(_ members: String) -> String {
        """
        {"bundle_id":"com.example","events":[{"message":"m","level":"info",
        "session_id":"\(AnalyticsScene.session)",\(members)}]}
        """
    }

    private static func answering(_ answers: String) -> String { #"{"bundle_id":"com.example","answers":\#(answers)}"# }

    private static func setting(_ members: String) -> String { #"{"user_id":"u","properties":{\#(members)}}"# }

    static let inputs = [
        // Properties
        Input("properties set", properties, 60_000, #"400 {"error":"Total properties count exceeds max of 50"}"#) {
            setting(members($0))
        },
        Input("properties deleted", properties, 60_000, #"200 {"updated":true,"properties":{}}"#) {
            setting(members($0, "\"\""))
        },
        Input("one property again and again", properties, 100_000, #"200 {"updated":true,"properties":{"k":"v"}}"#) {
            setting(String(repeating: #""k":"x","#, count: $0) + #""k":"v""#)
        },
        Input("a property's key", properties, 1_000_000, #"400 {"error":"Property key "#) {
            setting(#""\#(String(repeating: "k", count: $0))":"v""#)
        },
        Input("a property of marks", properties, 250_000, #"400 {"error":"Property key "#) {
            setting("\"\(marks($0))\":\"v\"")
        },
        // Events
        Input("attributes", "/v1/ingest", 60_000, accepted) { event(#""custom_attributes":{\#(members($0))}"#) },
        Input("one attribute again and again", "/v1/ingest", 100_000, accepted) {
            event(#""custom_attributes":{\#(String(repeating: #""k":"x","#, count: $0))"k":"v"}"#)
        },
        Input("an attribute's array", "/v1/ingest", 250_000, accepted) {
            event(#""custom_attributes":{"k":\#(list($0) { "\($0 % 10)" })}"#)
        },
        Input("an attribute's nesting", "/v1/ingest", 8000, accepted) { count in
            let nested = String(repeating: "[", count: 58) + String(repeating: "]", count: 58)
            return event(#""custom_attributes":{"k":\#(list(count) { _ in nested })}"#)
        },
        Input("a number's digits", "/v1/ingest", 1_000_000, accepted) {
            event(#""custom_attributes":{"k":\#(String(repeating: "7", count: $0))}"#)
        },
        Input("a fraction's digits", "/v1/ingest", 1_000_000, accepted) {
            event(#""custom_attributes":{"k":0.\#(String(repeating: "7", count: $0))e-9}"#)
        },
        Input("members nobody knows", "/v1/ingest", 60_000, accepted) { event(members($0)) },
        Input("members with escapes", "/v1/ingest", 55_000, accepted) {
            event((0..<$0).map { #""\u006d\n\#($0)":0"# }.joined(separator: ","))
        },
        Input("entries", "/v1/ingest", 200_000, #"400 {"error":"Maximum batch size is 100"}"#) {
            #"{"bundle_id":"com.example","events":\#(list($0) { _ in "null" })}"#
        },
        Input("languages", "/v1/ingest", 60_000, accepted) {
            event(#""supported_languages":\#(list($0) { "\" l\($0)\"" })"#)
        },
        Input("a language of marks", "/v1/ingest", 250_000, accepted) {
            event(#""supported_languages":["x\#(marks($0))"]"#)
        },
        Input("a level of marks", "/v1/ingest", 250_000, rejected) { event(#""level":"i\#(marks($0))""#) },
        Input("an environment of marks", "/v1/ingest", 250_000, rejected) {
            event(#""environment":"i\#(marks($0))""#)
        },
        Input("a user of marks", "/v1/ingest", 250_000, rejected) { event(#""user_id":"u\#(marks($0))""#) },
        Input("a metric's phase of marks", "/v1/ingest", 250_000, accepted) {
            event(#""message":"metric:a:start\#(marks($0))""#)
        },
        Input("a message's escapes", "/v1/ingest", 170_000, accepted) {
            event("\"message\":\"\(String(repeating: "\\ud83d", count: $0))\"")
        },
        Input("a message of quotation marks", "/v1/ingest", 500_000, accepted) {
            event("\"message\":\"\(String(repeating: "\\\"", count: $0))\"")
        },
        Input("a fraction of a second", "/v1/ingest", 1_000_000, accepted) {
            event(#""timestamp":"2026-05-12T06:59:59.\#(String(repeating: "9", count: $0))Z""#)
        },
        // Feedback and answers of end users
        Input("a message of white space", "/v1/feedback", 250_000, #"400 {"error":"message is required"}"#) {
            #"{"bundle_id":"com.example","message":"\#(String(repeating: " \u{FEFF}", count: $0))"}"#
        },
        Input("names of marks", "/v1/feedback", 120_000, "201 ") {
            let marks = marks($0)
            return #"{"bundle_id":"com.example","message":"m","submitter_name":"\#(marks)","os_version":"\#(marks)"}"#
        },
        Input("answers", responses, 60_000, #"400 {"error":"unknown question id \"k0\""}"#) {
            answering("{\(members($0))}")
        },
        Input("one answer again and again", responses, 60_000, "201 ") {
            answering("{\(String(repeating: #""words":"x","#, count: $0))\"words\":\"w\"}")
        },
        Input("options", responses, 200_000, #"400 {"error":"\"some\" has duplicate selection \"a\""}"#) {
            answering(#"{"some":\#(list($0) { _ in #""a""# })}"#)
        },
        Input("an option of marks", responses, 250_000, #"400 {"error":"\"a"#) {
            answering(#"{"one":"a\#(marks($0))"}"#)
        },
        Input("a blank answer", responses, 250_000, "201 ") {
            answering("{\"words\":\"\(String(repeating: " \u{FEFF}", count: $0))\"}")
        },
        Input("a claimed id", "/v1/identity/claim", 250_000, #"400 {"error":"anonymous_id exceeds "#) {
            #"{"anonymous_id":"owl_anon_\#(marks($0))","user_id":"u"}"#
        },
        Input("a file's name", "/v1/ingest/attachment", 250_000, #"400 {"code":"invalid_request","#) {
            #"{"client_event_id":"\#(AnalyticsScene.session)","original_filename":"\#(marks($0))"}"#
        },
    ]

    @Test(arguments: inputs) func costIsThatOfTheSize(input: Input) throws {
        let app = try TestApp()
        let scene = try AnalyticsScene(app)
        try scene.makeQuestionnaire()
        let client = app.client()
        let largest = Array(input.body(input.limit).utf8)
        #expect((400_000...1_048_576).contains(largest.count), "\(largest.count) bytes")
        let cost = try growth(from: input.limit / 4, runs: 3) {
            Array(input.body($0).utf8)
        } work: { body in
            let answer = client.send(
                .post, input.path, bytes: body, token: scene.clientKey,
                headers: [("content-type", "application/json")])
            // Compares bytes, and prints no long text: answers repeat parts of the request.
            let isExpected = "\(answer)".utf8.starts(with: input.answer.utf8)
            #expect(isExpected, "\(answer.status)")
        }
        #expect(cost < quasilinear)
    }

    /// As many events as an import may have, each of another user. `String` considers all of their ids equal.
    @Test func manyUsersCostWhatTheyAre() throws {
        let app = try TestApp()
        let scene = try AnalyticsScene(app)
        let client = app.client()
        let cost = try growth(from: 250, runs: 3) { count in
            scene.importing(
                (0..<count).map { number in
                    let spelling = (0..<80).map { number >> ($0 % 10) & 1 == 0 ? "\u{E9}" : "e\u{301}" }.joined()
                    return scene.event(of: spelling, id: number, at: "2026-05-11")
                })
        } work: { request in
            let answer = client.send(request)
            #expect(answer["rejected"] == 0, "\(answer)")
        }
        #expect(cost < quasilinear)
        #expect(try app.count("SELECT COUNT(*) FROM app_users") == 1000)
    }
}
