import Analytics
import JSON
import Testing
import Time

/// The table of analytics §8.2, row by row.
struct EventChecksTests {
    /// In the middle of a month.
    private static let now = Timestamp(seconds: 1_778_569_200)
    private static let session: JSONValue = "01234567-89ab-cdef-0123-456789abcdef"
    private static let complete: JSONValue = ["message": "hi", "level": "info", "session_id": session]

    /// A complete event with fields added or removed.
    private static func event(_ fields: [String: JSONValue?]) -> JSONValue {
        guard case .object(let object) = complete else { return .null }
        var members: [(String, JSONValue)] = object.members.map { ($0.name, $0.value) }
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            members.removeAll { $0.0 == name }
            if let value { members.append((name, value)) }
        }
        return .object(JSONObject(members))
    }

    /// A complete event with members that are written like this.
    private static func text(_ members: String) -> String {
        String(decoding: complete.json().dropLast(), as: UTF8.self) + ",\(members)}"
    }

    private func check(
        _ entry: JSONValue, platform: AppPlatform = .apple, maximumAge: Duration? = .seconds(30 * 86_400),
        horizon: Timestamp = Timestamp(seconds: 0)
    ) throws -> NewEvent {
        var times = EventTimes(at: Self.now, maximumAge: maximumAge) { horizon }
        return try NewEvent(parsed(entry), of: platform, within: &times)
    }

    private func fault(
        _ entry: JSONValue, platform: AppPlatform = .apple, maximumAge: Duration? = .seconds(30 * 86_400),
        horizon: Timestamp = Timestamp(seconds: 0)
    ) -> String? {
        do {
            _ = try check(entry, platform: platform, maximumAge: maximumAge, horizon: horizon)
            return nil
        } catch {
            return (error as? EventFault)?.message
        }
    }

    @Test(arguments: [.null, true, 1, 1.5, "event", [], [["message": "hi"]]] as [JSONValue])
    func anEntryIsAnObject(entry: JSONValue) { #expect(fault(entry) == "must be an object") }

    @Test(
        arguments: [
            ("message", nil, "message is required and must be a string"),
            ("message", .null, "message is required and must be a string"),
            ("message", "", "message is required and must be a string"),
            ("message", 7, "message is required and must be a string"),
            ("level", nil, "level must be one of info, debug, warn, error"),
            ("level", "", "level must be one of info, debug, warn, error"),
            ("level", "INFO", "level must be one of info, debug, warn, error"),
            ("level", 1, "level must be one of info, debug, warn, error"),
            ("session_id", nil, "session_id is required and must be a string"),
            ("session_id", "", "session_id is required and must be a string"),
            ("session_id", 5, "session_id is required and must be a string"),
            ("session_id", "none", "session_id must be a UUID"),
            ("session_id", "01234567-89ab-cdef-0123-456789abcdef\0", "session_id must be a UUID"),
            ("client_event_id", "none", "client_event_id must be a UUID"),
            ("client_event_id", 5, "client_event_id must be a UUID"),
            ("is_dev", "true", "is_dev must be a boolean"),
            ("is_dev", 1, "is_dev must be a boolean"),
            ("custom_attributes", "a", "custom_attributes must be an object"),
            ("custom_attributes", [], "custom_attributes must be an object"),
            ("custom_attributes", 0, "custom_attributes must be an object"),
        ] as [(String, JSONValue?, String)])
    func fields(name: String, value: JSONValue?, text: String) { #expect(fault(Self.event([name: value])) == text) }

    @Test(arguments: ["info", "debug", "warn", "error"])
    func levels(level: String) throws {
        #expect(try check(Self.event(["level": .string(level)])).level.rawValue == level)
    }

    // MARK: Times

    @Test(
        arguments: [
            "tomorrow", "2026-02-30", "2026-05-12T25:00:00Z", "1969-12-31T23:59:59.999Z", -1, -0.5, 8.65e15, 1e300,
            true,
            ["2026-05-12"], [:], .integer(.max),
        ] as [JSONValue])
    func noTime(value: JSONValue) {
        #expect(fault(Self.event(["timestamp": value])) == "timestamp must be a valid ISO 8601 date")
    }

    /// Numbers beyond all doubles, and beyond the integers that doubles hold exactly.
    @Test(arguments: ["1e400", "-1e400", "9.1e15", "9100000000000000.5"])
    func noTimeWritten(number: String) throws {
        let entry = try parsed(text: Self.text(#""timestamp":\#(number)"#))
        var times = EventTimes(at: Self.now, maximumAge: nil) { Timestamp(seconds: 0) }
        #expect(throws: EventFault("timestamp must be a valid ISO 8601 date")) {
            try NewEvent(entry, of: .apple, within: &times)
        }
    }

    @Test(
        arguments: [
            ("2026-05-12T07:00:00.001Z", 1), ("2026-05-12T09:00:00+02:00", 0), ("2026-05-12T07:00:00.0019", 1),
            ("2026-05-12", -25_200_000), (1_778_569_200_000, 0), (1_778_569_200_000.9, 0),
            ("2026-05-12T07:05:00Z", 300_000),
            ("2026-04-12T07:00:00Z", -2_592_000_000),
        ] as [(JSONValue, Int64)])
    func times(value: JSONValue, offset: Int64) throws {
        let event = try check(Self.event(["timestamp": value]))
        #expect(event.timestamp.milliseconds - Self.now.milliseconds == offset)
        #expect(event.hasTimestamp)
    }

    @Test(arguments: [nil, .null, ""] as [JSONValue?])
    func withoutATimestampItIsNow(value: JSONValue?) throws {
        let event = try check(Self.event(["timestamp": value]))
        #expect(event.timestamp == Self.now)
        #expect(!event.hasTimestamp)
    }

    @Test(
        arguments: [(nil, true), (.null, true), ("", true), (0, false), ("yesterday", false)] as [(JSONValue?, Bool)])
    func batchesSayIfAnEventIsUndated(timestamp: JSONValue?, isUndated: Bool) throws {
        let dated = Self.event(["timestamp": 1])
        #expect(try EventBatch(parsed([dated, Self.event(["timestamp": timestamp])])).hasUndated == isUndated)
        // What is no event has no time.
        #expect(try !EventBatch(parsed([dated, "event"])).hasUndated)
    }

    @Test func tooLateAndTooOld() {
        let future = "timestamp cannot be more than 5 minutes in the future"
        #expect(fault(Self.event(["timestamp": "2026-05-12T07:05:00.001Z"])) == future)
        #expect(fault(Self.event(["timestamp": 8.64e15])) == future)
        let past = "timestamp cannot be more than 30 days in the past"
        #expect(fault(Self.event(["timestamp": "2026-04-12T06:59:59.999Z"])) == past)
        #expect(fault(Self.event(["timestamp": 0])) == past)
        #expect(fault(Self.event(["timestamp": 0]), maximumAge: nil) == nil)
        // The other checks of a time come first.
        #expect(fault(Self.event(["timestamp": 0]), horizon: Self.now) == past)
    }

    @Test func nothingBeforeTheHorizon() throws {
        let horizon = try #require(Timestamp(iso8601: "2026-05-01"))
        let text = "timestamp is older than the retention period"
        #expect(fault(Self.event(["timestamp": "2026-04-30T23:59:59.999Z"]), horizon: horizon) == text)
        #expect(
            fault(Self.event(["timestamp": "1970-01-01"]), maximumAge: nil, horizon: Timestamp(seconds: 1)) == text)
        #expect(fault(Self.event(["timestamp": "2026-05-01"]), horizon: horizon) == nil)
    }

    @Test func theHorizonIsReadOnceAndOnlyForOlderMonths() throws {
        var reads = 0
        var times = EventTimes(at: Self.now, maximumAge: nil) {
            reads += 1
            return Timestamp(seconds: 0)
        }
        _ = try NewEvent(parsed(Self.complete), of: .apple, within: &times)
        _ = try NewEvent(parsed(Self.event(["timestamp": "2026-05-01"])), of: .apple, within: &times)
        #expect(reads == 0)
        for _ in 1...3 {
            _ = try NewEvent(parsed(Self.event(["timestamp": "2026-04-30"])), of: .apple, within: &times)
        }
        #expect(reads == 1)
    }

    // MARK: Environments

    @Test(
        arguments: [
            (.apple, ["ios", "ipados", "macos", "watchos"], "ios, ipados, macos, watchos"),
            (.android, ["android"], "android"), (.web, ["web"], "web"), (.backend, ["backend"], "backend"),
        ] as [(AppPlatform, [String], String)])
    func environments(platform: AppPlatform, allowed: [String], list: String) throws {
        for environment in ["ios", "ipados", "macos", "watchos", "android", "web", "backend", "iOS", "tvos"] {
            let entry = Self.event(["environment": .string(environment)])
            if allowed.contains(environment) {
                #expect(try check(entry, platform: platform).environment == environment)
            } else {
                #expect(
                    fault(entry, platform: platform)
                        == "environment \"\(environment)\" is not allowed for \(platform.rawValue) apps (allowed: \(list))"
                )
            }
        }
    }

    // MARK: Texts

    private static let limits: KeyValuePairs = [
        "user_id": 255, "screen_name": 255, "os_version": 50, "app_version": 50, "sdk_name": 50, "sdk_version": 50,
        "device_model": 100, "build_number": 50, "locale": 20, "preferred_language": 35,
    ]

    @Test func lengthsAreOfUTF16() {
        for (name, limit) in Self.limits {
            let tooLong = "\(name) exceeds max length of \(limit)"
            func fault(_ character: String, _ count: Int) -> String? {
                self.fault(Self.event([name: .string(String(repeating: character, count: count))]))
            }
            #expect(fault("a", limit) == nil)
            #expect(fault("a", limit + 1) == tooLong)
            #expect(fault("é", limit) == nil)
            // One code unit each, although they are drawn as one character.
            #expect(fault("\u{301}", limit) == nil)
            #expect(fault("e\u{301}", limit / 2) == nil)
            #expect(fault("e\u{301}", limit / 2 + 1) == tooLong)
            // Two code units.
            #expect(fault("😀", limit / 2) == nil)
            #expect(fault("😀", limit / 2 + 1) == tooLong)
        }
        let long = JSONValue.string(String(repeating: "a", count: 100_000))
        #expect(fault(Self.event(["message": long, "source_module": long])) == nil)
    }

    @Test func textsAreStrings() {
        let names = ["environment", "source_module"] + Self.limits.map(\.key)
        for name in names {
            for value in [1, true, ["a"], ["a": "b"]] as [JSONValue] {
                #expect(fault(Self.event([name: value])) == "\(name) must be a string")
            }
        }
    }

    @Test func noNULs() {
        let names = ["message", "source_module"] + Self.limits.map(\.key)
        for name in names {
            #expect(fault(Self.event([name: "a\0"])) == "\(name) must not contain NUL characters")
        }
        let text = "custom_attributes must not contain NUL characters"
        #expect(fault(Self.event(["custom_attributes": ["a": "\0"]])) == text)
        #expect(fault(Self.event(["custom_attributes": ["\0": "a"]])) == text)
        // These are not stored: text of a nested value, and truncated text.
        #expect(fault(Self.event(["custom_attributes": ["a": ["\0"]]])) == nil)
        let cutOff = JSONValue.string(String(repeating: "a", count: 200) + "\0")
        #expect(fault(Self.event(["custom_attributes": ["a": cutOff]])) == nil)
    }

    @Test func nothingNullAndEmptyAreTheSame() throws {
        let names = [
            "client_event_id", "timestamp", "environment", "user_id", "source_module", "screen_name", "is_dev",
            "custom_attributes", "os_version", "app_version", "sdk_name", "sdk_version", "device_model", "build_number",
            "locale", "preferred_language",
        ]
        for value in [nil, .null, ""] as [JSONValue?] {
            let event = try check(Self.event(Dictionary(uniqueKeysWithValues: names.map { ($0, value) })))
            #expect(event.clientEventID == nil && event.environment == nil && event.userID == nil)
            #expect(event.sourceModule == nil && event.screenName == nil && event.attributes == nil && !event.isDev)
            let client = event.client
            #expect(client.osVersion == nil && client.appVersion == nil && client.sdkName == nil)
            #expect(client.sdkVersion == nil && client.deviceModel == nil && client.buildNumber == nil)
            #expect(client.locale == nil && client.preferredLanguage == nil)
        }
    }

    /// Each event fails one check and all later ones.
    @Test func theFirstFailureTells() {
        var fields: [String: JSONValue?] = [
            "message": "\0", "level": "x", "session_id": "x", "timestamp": "x", "environment": "tvos",
            "client_event_id": "x", "is_dev": "x", "custom_attributes": "x", "user_id": 1, "source_module": 1,
            "screen_name": 1, "os_version": 1, "app_version": 1, "sdk_name": 1, "sdk_version": 1, "device_model": 1,
            "build_number": 1, "locale": 1, "preferred_language": 1,
        ]
        func expect(_ text: String?, then name: String, _ value: JSONValue?) {
            #expect(fault(Self.event(fields)) == text)
            fields[name] = value
        }
        fields["message"] = 1
        expect("message is required and must be a string", then: "message", "\0")
        expect("level must be one of info, debug, warn, error", then: "level", "warn")
        expect("session_id must be a UUID", then: "session_id", Self.session)
        expect("timestamp must be a valid ISO 8601 date", then: "timestamp", 0)
        expect("timestamp cannot be more than 30 days in the past", then: "timestamp", nil)
        expect(
            "environment \"tvos\" is not allowed for apple apps (allowed: ios, ipados, macos, watchos)",
            then: "environment", 1)
        expect("client_event_id must be a UUID", then: "client_event_id", nil)
        expect("is_dev must be a boolean", then: "is_dev", nil)
        expect("custom_attributes must be an object", then: "custom_attributes", nil)
        for name in [
            "environment", "user_id", "source_module", "screen_name", "os_version", "app_version", "sdk_name",
            "sdk_version", "device_model", "build_number", "locale", "preferred_language",
        ] {
            expect("\(name) must be a string", then: name, nil)
        }
        expect("message must not contain NUL characters", then: "message", "hi")
        expect(nil, then: "message", "hi")
    }

    // MARK: Attributes

    private func attributes(_ value: JSONValue) throws -> JSONObject? {
        try check(Self.event(["custom_attributes": value])).attributes?.values
    }

    @Test func attributesAreStrings() throws {
        let value: JSONValue = [
            "text": "a", "integer": 5.0, "number": 1.50, "true": true, "null": .null, "list": [1, "a", [:]],
            "object": ["b": "\"", "a": .null],
        ]
        let expected: JSONValue = [
            "text": "a", "integer": "5", "number": "1.5", "true": "true", "null": "null", "list": #"[1,"a",{}]"#,
            "object": #"{"b":"\"","a":null}"#,
        ]
        #expect(try attributes(value).map(JSONValue.object) == expected)
        #expect(try attributes([:]) == JSONObject([]))
        let infinite = try parsed(text: Self.text(#""custom_attributes":{"object":{"b":1e400}}"#))
        var times = EventTimes(at: Self.now, maximumAge: nil) { Timestamp(seconds: 0) }
        let event = try NewEvent(infinite, of: .apple, within: &times)
        #expect(event.attributes?.values["object"] == #"{"b":null}"#)
    }

    @Test func attributesAreCut() throws {
        func text(_ name: String, _ value: JSONValue) throws -> String? { try attributes([name: value])?[name]?.string }
        let long = String(repeating: "a", count: 20_000)
        #expect(try text("a", .string(long))?.utf16.count == 200)
        #expect(try text("_error_stack", .string(long))?.utf16.count == 16_000)
        #expect(try text("_error_stacks", .string(long))?.utf16.count == 200)
        #expect(try text("a", [.string(long)]) == #"[""# + String(repeating: "a", count: 198))
        // Half of the surrogate pair remains.
        let emoji = "a" + String(repeating: "😀", count: 100)
        #expect(try text("a", .string(emoji)) == "a" + String(repeating: "😀", count: 99) + "\u{FFFD}")
        // A combining mark loses its letter, which is allowed.
        let marks = String(repeating: "e\u{301}", count: 101)
        #expect(try text("a", .string(marks))?.unicodeScalars.count == 200)
        let names = (0..<5000).map { ("name \($0)", JSONValue.integer(Int64($0))) }
        #expect(try attributes(.object(JSONObject(names)))?.members.count == 5000)
    }

    // MARK: Languages

    @Test(
        arguments: [
            (["fr", "en"], ["en", "fr"]), ([" en ", "en", "Base", "", "  ", "de-CH"], ["de-CH", "en"]),
            (["base"], ["base"]), ([], nil), (["Base", " "], nil), (["en", 1], nil), ("en", nil), (nil, nil),
            (["en\0"], nil), (["é", "e\u{301}"], ["e\u{301}", "é"]),
        ] as [(JSONValue?, [String]?)])
    func languages(value: JSONValue?, expected: [String]?) throws {
        let languages = try check(Self.event(["supported_languages": value])).supportedLanguages
        #expect(languages?.map { Array($0.utf8) } == expected?.map { Array($0.utf8) })
    }

    /// A list that is too long is ignored, and the event is accepted.
    @Test func languagesAreAsManyAndAsLongAsThereAre() throws {
        func count(_ languages: [String]) throws -> Int? {
            let value = JSONValue.array(languages.map { .string($0) })
            return try check(Self.event(["supported_languages": value])).supportedLanguages?.count
        }
        let many = (0..<200).map { "l\($0)" }
        #expect(try count(many) == 200)
        #expect(try count(many + many + ["Base", ""]) == 200)
        #expect(try count(many + ["en"]) == nil)
        #expect(try count(["en", String(repeating: "x", count: 35)]) == 2)
        #expect(try count(["en", String(repeating: "x", count: 36)]) == nil)
    }
}
