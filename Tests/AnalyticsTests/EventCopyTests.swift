import Analytics
import JSON
import Testing
import Time

/// Which events get a second row (analytics §8.4).
struct EventCopyTests {
    private func copy(_ message: String, _ attributes: JSONValue = .null) throws -> EventCopy? {
        var times = EventTimes(at: Timestamp(seconds: 0), maximumAge: nil) { Timestamp(seconds: 0) }
        let entry: JSONValue = [
            "message": .string(message), "level": "info", "session_id": "01234567-89ab-cdef-0123-456789abcdef",
            "custom_attributes": attributes,
        ]
        return EventCopy(of: try NewEvent(parsed(entry), of: .apple, within: &times))
    }

    private func metric(
        _ message: String = "metric:load:complete", _ attributes: JSONValue = .null
    ) throws -> EventCopy.Metric? {
        guard case .metric(let metric) = try copy(message, attributes) else { return nil }
        return metric
    }

    @Test(arguments: EventCopy.Metric.Phase.allCases)
    func metrics(phase: EventCopy.Metric.Phase) throws {
        let metric = try #require(try metric("metric:photo-conversion-2:\(phase.rawValue)"))
        #expect(metric.slug == "photo-conversion-2" && metric.phase == phase)
        #expect(metric.trackingID == nil && metric.durationMilliseconds == nil && metric.error == nil)
    }

    @Test(arguments: [
        "metric:", "metric:load", "metric:load:", "metric::start", "metric:load:Start", "metric:load:begin",
        "metric:Load:start", "metric:lo_ad:start", "metric:lo ad:start", "metric:a:b:start", "metric:é:start",
        "Metric:load:start", " metric:load:start", "metric:load:start ", "step:", "track:", "step", "hello", "Step:a",
    ])
    func noCopy(message: String) throws { #expect(try copy(message) == nil) }

    @Test func steps() throws {
        #expect(try copy("step:checkout") == .step("checkout"))
        #expect(try copy("track:checkout") == .step("checkout"))
        #expect(try copy("step: a:b ") == .step(" a:b "))
        #expect(try copy("step:track:x") == .step("track:x"))
    }

    @Test func longNamesMakeNone() throws {
        let slug = String(repeating: "a", count: 255)
        #expect(try metric("metric:\(slug):start")?.slug == slug)
        #expect(try copy("metric:\(slug)a:start") == nil)
        #expect(try copy("step:\(slug)") == .step(slug))
        #expect(try copy("step:\(slug)a") == nil)
        let emoji = String(repeating: "😀", count: 127)
        #expect(try copy("track:\(emoji)a") == .step(emoji + "a"))
        #expect(try copy("track:\(emoji)😀") == nil)
    }

    @Test(
        arguments: [
            ("12", 12), ("12.7", 12), ("12ms", 12), ("  12", 12), ("+12", 12), ("-12", -12), ("1e3", 1), ("007", 7),
            ("2147483647", 2_147_483_647), ("2147483648", nil), ("-2147483648", -2_147_483_648), ("-2147483649", nil),
            ("99999999999999999999999", nil), ("0", nil), ("0.9", nil), ("-0", nil), ("", nil), ("ms", nil), ("+", nil),
            ("--1", nil), ("+-1", nil), ("null", nil), ("true", nil), ("٣", nil),
        ] as [(String, Int?)])
    func durations(text: String, expected: Int?) throws {
        let metric = try metric("metric:load:complete", ["duration_ms": .string(text)])
        #expect(metric != nil && metric?.durationMilliseconds == expected)
    }

    @Test func otherAttributes() throws {
        let id = "01234567-89AB-CDEF-0123-456789abcdef"
        func metric(_ attributes: JSONValue) throws -> EventCopy.Metric? {
            try self.metric("metric:load:fail", attributes)
        }
        #expect(try metric(["tracking_id": .string(id)])?.trackingID == UUID(id))
        #expect(try metric(["tracking_id": "7"])?.trackingID == nil)
        #expect(try metric(["duration_ms": 12.7])?.durationMilliseconds == 12)
        #expect(try metric(["error": "timeout"])?.error == "timeout")
        #expect(try metric([:])?.error == nil)
    }
}
