import Foundation
import Testing

@testable import MerganserAnalytics

/// Events as JSON.
@Suite struct EventEncoderTests {
    private func encode(
        _ message: String, screen: String? = nil, attributes: [String: String?] = [:], milliseconds: Int64 = 0
    ) throws -> [String: Any] {
        let encoder = EventEncoder(device: AnalyticsDeployment.device, isDevelopment: false)
        let bytes = encoder.encode(
            PendingEvent(
                message: message, level: .info, screen: screen, attributes: attributes, attachments: [],
                milliseconds: milliseconds, source: SourceLocation(),
                context: EventContext(userID: "user-1", sessionID: "s", connection: .wifi)),
            id: "id")
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }

    @Test(arguments: [
        "plain", "", "quote \" backslash \\ slash / tab \t line \n return \r bell \u{7} escape \u{1B}",
        "umlaut ü emoji 👩‍👩‍👧 line \u{2028} feff \u{FEFF}",
    ])
    func textsComeBack(text: String) throws {
        let event = try encode(text, screen: text, attributes: ["key": text, text: "value"])
        #expect(event["message"] as? String == text)
        #expect(event["screen_name"] as? String == text)
        let attributes = try #require(event["custom_attributes"] as? [String: String])
        #expect(attributes["key"] == text)
        #expect(attributes[text] == "value")
    }

    /// A NUL would cost the event (analytics §8.2).
    @Test func nulsAreLeftOut() throws {
        #expect(try encode("a\0b")["message"] as? String == "ab")
    }

    @Test func textsAreCutAsDeployedClientsCutThem() throws {
        let long = String(repeating: "é👩‍👩‍👧", count: 10_000)
        let event = try encode(long, screen: long, attributes: ["key": long, "_error_stack": long, "none": nil])
        #expect((event["message"] as? String)?.count == 2000)
        #expect((event["screen_name"] as? String).map { $0.utf16.count <= 255 && $0.utf16.count > 240 } == true)
        let attributes = try #require(event["custom_attributes"] as? [String: String])
        #expect(attributes["key"]?.count == 200)
        #expect(attributes["_error_stack"]?.count == 16_000)
        #expect(attributes["none"] == nil)
    }

    @Test func whatTheLibrarySaysItselfWins() throws {
        let event = try encode("m", attributes: ["_connection": "carrier pigeon", "_line": "none"])
        let attributes = try #require(event["custom_attributes"] as? [String: String])
        #expect(attributes["_connection"] == "wifi")
        #expect(attributes["_file"] == "EventEncoderTests.swift")
        #expect(Int(attributes["_line"] ?? "") != nil)
    }

    @Test(arguments: [0, 951_782_400_000, 951_868_799_999, 1_709_210_096_007, 1_800_000_000_000, 4_107_542_399_999])
    func timestampsAreThoseOfTheCalendar(milliseconds: Int64) {
        let date = Date(timeIntervalSince1970: Double(milliseconds / 1000))
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        #expect(EventEncoder.timestamp(milliseconds) == "\(date.formatted(.iso8601).dropLast()).\(fraction)Z")
    }

    @Test(arguments: [
        ("photo-upload", "photo-upload"), ("Photo Upload!", "photo-upload"), ("--a--", "--a--"), ("-Ä b_c-", "b-c"),
        ("Größe", "gr-e"),
    ])
    func metricsGetNamesThatTheServerKeeps(name: String, slug: String) { #expect(MetricSlug.of(name) == slug) }

    /// What is longer would cost every event.
    @Test func theDeviceKeepsToTheServersLengths() {
        let long = String(repeating: "x", count: 300)
        let device = DeviceDescription(
            environment: .ios, osVersion: long, appVersion: long, buildNumber: long, deviceModel: long, locale: long,
            preferredLanguage: long)
        #expect(device.osVersion?.count == 50)
        #expect(device.appVersion?.count == 50)
        #expect(device.buildNumber?.count == 50)
        #expect(device.deviceModel?.count == 100)
        #expect(device.locale?.count == 20)
        #expect(device.preferredLanguage?.count == 35)
    }
}
