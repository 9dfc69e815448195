import JSON
import Testing

@testable import Analytics

/// The part of analytics §10 that needs no database.
@Suite struct FeedbackTests {
    @Test(arguments: [
        ("a@b.c", true), ("first.last+tag@sub.example.co", true), ("ä@bücher.example", true), ("a@b..c", true),
        ("", false), ("a", false), ("a@b", false), ("@b.c", false), ("a@.c", false), ("a@c.", false), ("a@@b.c", false),
        ("a@b@c.d", false), ("a b@c.d", false), ("a@b.c d", false), ("a@b\u{A0}.c", false), ("a@b.c\n", false),
        // Combining marks on `@` and `.` do not hide these characters.
        ("a@\u{301}b.\u{301}c", true), ("a \u{301}@b.c", false),
    ])
    func anAddressHasTheShapeOfOne(text: String, isOne: Bool) { #expect(Feedback.isEmailAddress(text) == isOne) }

    @Test func metadataIsTrimmedAndCut() {
        let long = String(repeating: "x", count: 99) + "😀"
        let client = ClientMetadata(
            JSONObject([
                ("environment", "\u{A0}ios\n"), ("os_version", .string(" " + long)), ("app_version", " \t "),
                ("sdk_name", ""), ("sdk_version", 5), ("device_model", .string(long)), ("is_dev", true),
            ]))
        #expect(client.environment == "ios")
        #expect(client.osVersion == String(repeating: "x", count: 50))
        #expect(client.appVersion == nil)
        #expect(client.sdkName == nil)
        #expect(client.sdkVersion == nil)
        // The first half of the surrogate pair is the hundredth code unit.
        #expect(client.deviceModel == String(repeating: "x", count: 99) + "\u{FFFD}")
        #expect(client.isDev)
    }

    @Test(arguments: [nil, .null, false, "true", 1, ["true"]] as [JSONValue?])
    func onlyTrueIsDev(value: JSONValue?) {
        #expect(!ClientMetadata(JSONObject(value.map { [("is_dev", $0)] } ?? [])).isDev)
    }

    @Test func recordsOfABackendAreNotMadeForDevelopment() {
        let client = ClientMetadata(JSONObject([("is_dev", true)]))
        #expect(client.newRecord(for: .apple).isDev)
        #expect(!client.newRecord(for: .backend).isDev)
    }
}
