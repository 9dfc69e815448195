package import Time

/// When a failed event is sent again (accounts §3.4).
package enum DeliverySchedule {
    /// After each failure but the last: three days in sum.
    private static let waits: [Duration] = [
        .seconds(30), .minutes(1), .minutes(5), .minutes(15), .minutes(30), .hours(1), .hours(2), .hours(4), .hours(6),
        .hours(10), .hours(12), .hours(12), .hours(24),
    ]

    /// Failures in a row that open the breaker.
    static let breakerLimit = 5
    static let probeInterval = Duration.minutes(1)
    /// After nothing but failures for this long, the receiver is disabled.
    static let failureLimit = Duration.hours(5 * 24)
    /// If nothing was sent for longer, `failureLimit` counts anew. More than the longest wait, so that one event's attempts
    /// belong together.
    static let longestSilence = Duration.hours(30)
    /// The longest Retry-After that counts.
    private static let longestRetryAfter = Duration.hours(1)

    /// - Parameters:
    ///   - attempts: how many have failed.
    ///   - spread: a random factor, so that what failed together does not come back together.
    /// - Returns: nil after the last attempt.
    static func wait(
        afterFailures attempts: Int, retryAfter: Duration?, spread: Double = .random(in: 0.8...1.2)
    ) -> Duration? {
        guard (1...waits.count).contains(attempts) else { return nil }
        return max(waits[attempts - 1] * spread, min(retryAfter ?? .zero, longestRetryAfter))
    }

    /// Reads Retry-After (RFC 9110 §10.2.3): seconds, or a date in the preferred format. Nil for anything else.
    package static func retryAfter(_ value: String, at now: Timestamp) -> Duration? {
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return Int(value).map { .seconds(min($0, 86_400)) } ?? longestRetryAfter
        }
        return Timestamp(httpDate: value).map { max(.zero, $0 - now) }
    }
}

extension Timestamp {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// An IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    fileprivate init?(httpDate text: String) {
        let words = text.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int(words[1]), (1...31).contains(day),
            let month = Self.months.firstIndex(of: String(words[2])), let year = Int(words[3]),
            (1970...9999).contains(year)
        else { return nil }
        let time = words[4].split(separator: ":").map { Int($0) }
        guard time.count == 3, let hour = time[0], let minute = time[1], let second = time[2],
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        self.init(CivilTime(year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second))
    }
}

extension Duration {
    fileprivate static func minutes(_ count: Int) -> Duration { .seconds(60 * count) }
    fileprivate static func hours(_ count: Int) -> Duration { .seconds(3600 * count) }
}
