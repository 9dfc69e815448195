import FaultProxy
import Foundation
import MerganserClient
import TestSupport
import Testing

@testable import MerganserAnalytics

/// The library sends what the deployed client sends, event by event, but for ids, times and its own name, so that
/// dashboards see no difference. `Golden/deployed-client.json` is what that client sends for the same calls.
@Suite struct DeployedClientTests {
    private let deployment: AnalyticsDeployment
    private let network: LocalHTTPServer

    init() throws {
        // Apple's: it knows no such token.
        network = try LocalHTTPServer { _ in .response(status: 400) }
        deployment = try AnalyticsDeployment(["MERGANSER_ATTRIBUTION_ENDPOINT": network.url + "/"])
    }

    @Test func everyRequestIsTheDeployedClients() async throws {
        let source = SourceLocation(file: "Guestbook/App.swift", function: "body()", line: 7)
        let reporter = try deployment.reporter()
        reporter.track(
            "Opened settings", screen: "Settings", attributes: ["tab": "privacy", "none": nil], source: source)
        reporter.track("Cache is warm", level: .debug, source: source)
        reporter.track("Disk is nearly full", level: .warn, source: source)
        reporter.track(
            "Upload failed", level: .error,
            attachments: [EventAttachment(Data("hello".utf8), name: "photo.heic", contentType: "image/heic")],
            source: source)
        reporter.step("paywall", attributes: ["plan": "pro"], source: source)
        reporter.start("Photo Upload", attributes: ["kind": "jpeg"], source: source)
            .complete(attributes: ["size": "3"], source: source)
        reporter.start("photo-upload", source: source).fail("no space", source: source)
        reporter.start("photo-upload", source: source).cancel(source: source)
        reporter.record("Check Out!", attributes: ["amount": "3"], source: source)
        reporter.screen("Home", source: source).disappeared(source: source)
        reporter.track(Unreadable(), "while loading photos", source: source)
        try await reporter.sendFeedback(" It is slow.\n", name: "  ", email: "a@example.com")
        let answers: [String: QuestionnaireAnswer] = [
            "why": .text("price"), "details": .text("Too much."), "stars": .number(4), "nps": .number(7),
        ]
        try await reporter.save(answers, of: "exit-survey", isComplete: true)
        try await reporter.dismissQuestionnaires()
        try await reporter.handOverAttribution(token: "token")
        let anonymousID = reporter.anonymousID
        reporter.signIn("user-456")
        reporter.track("Signed in", source: source)
        reporter.update(["plan": "pro", "old": ""])
        try await deployment.deliver(reporter)
        #expect(deployment.losses.withLock { $0 } == [])

        let golden = try Golden()
        let known = [anonymousID: "<anonymous>", reporter.sessionID: "<session>"]
        let sent = try deployment.events().map { Golden.normalized($0, known) }
        #expect(sent.count == golden.events.count)
        for (event, expected) in zip(sent, golden.events) { #expect(event == expected) }
        for (path, expected) in golden.requests {
            let body = try #require(try deployment.bodies(path).first, "\(path)")
            #expect(Golden.normalized(body, known) == expected, "\(path)")
        }
        #expect(try deployment.bodies("/v1/ingest").allSatisfy { $0["bundle_id"] as? String == "com.example" })

        // The server has stored all of it.
        #expect(try deployment.count("SELECT COUNT(*) FROM events") == golden.events.count)
        #expect(try deployment.count("SELECT COUNT(*) FROM metric_events") == 7)
        #expect(try deployment.count("SELECT COUNT(*) FROM funnel_events") == 1)
        #expect(try deployment.count("SELECT COUNT(*) FROM feedback") == 1)
        #expect(
            try deployment.count("SELECT COUNT(*) FROM questionnaire_responses WHERE submitted_at IS NOT NULL") == 1)
        #expect(
            try deployment.count(
                "SELECT COUNT(*) FROM event_attachments WHERE uploaded_at IS NOT NULL AND event_id IS NOT NULL") == 1)
        #expect(try deployment.count("SELECT COUNT(*) FROM identity_claims") == 1)
    }
}

struct Unreadable: Error {}

/// What the deployed client sends.
private struct Golden {
    let events: [String]
    let requests: [String: String]

    init() throws {
        let path = Repository.root + "/Tests/MerganserAnalyticsTests/Golden/deployed-client.json"
        let content = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
        let file = try #require(content as? [String: Any])
        let common = try #require(file["common"] as? [String: Any])
        let attributes = try #require(file["attributes"] as? [String: String])
        events = try #require(file["events"] as? [[String: Any]]).map { event in
            var whole = common.merging(event) { $1 }
            whole["attributes"] = nil
            whole["custom_attributes"] = attributes.merging(event["attributes"] as? [String: String] ?? [:]) { $1 }
            return Self.normalized(whole, [:])
        }
        requests = try #require(file["requests"] as? [String: [String: Any]]).mapValues { Self.normalized($0, [:]) }
    }

    /// Sorted JSON, with ids, times and the library's own name and places replaced.
    static func normalized(_ object: [String: Any], _ known: [String: String]) -> String {
        var object = object
        for key in ["sdk_name", "sdk_version"] where object[key] != nil { object[key] = "<sdk>" }
        if object["timestamp"] != nil { object["timestamp"] = "<time>" }
        // Where the library itself reports something is its own affair.
        if (object["message"] as? String)?.hasPrefix("sdk:") == true {
            object["source_module"] = "<own>"
            var attributes = object["custom_attributes"] as? [String: String]
            for key in ["_file", "_function", "_line"] { attributes?[key] = "<own>" }
            object["custom_attributes"] = attributes
        }
        if var attributes = object["custom_attributes"] as? [String: String] {
            if attributes["tracking_id"] != nil { attributes["tracking_id"] = "<uuid>" }
            for key in ["duration_ms", "_duration_ms"] where attributes[key].flatMap({ Int($0) }) != nil {
                attributes[key] = "<ms>"
            }
            if attributes["_error_stack"] != nil { attributes["_error_stack"] = "<stack>" }
            object["custom_attributes"] = attributes
        }
        if object["client_event_id"] != nil { object["client_event_id"] = "<uuid>" }
        for (key, value) in object { if let text = value as? String { object[key] = known[text] ?? text } }
        let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data ?? Data(), as: UTF8.self)
    }
}
