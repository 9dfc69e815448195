import Fetch

/// How many requests an instance has answered since it started.
struct RequestCount: Encodable {
    private(set) var answered = 0
    /// Those with a status of 500 and above.
    private(set) var failed = 0

    /// Reads the metrics of an instance through nginx; nil if there is no answer.
    ///
    /// - Parameter status: the base URL of nginx's server for health and metrics.
    static func read(_ color: Color, at status: String) -> RequestCount? {
        var options = Fetcher.Options()
        options.allowsLoopbackHTTP = true
        guard let answer = try? Fetcher(options).get("\(status)/-/\(color.rawValue)/metrics"), answer.status == 200
        else { return nil }
        return RequestCount(metrics: String(decoding: answer.body, as: UTF8.self))
    }

    init(metrics: String) {
        for line in metrics.split(separator: "\n") where line.hasPrefix("merganser_requests_total{") {
            guard let count = line.split(separator: " ").last.flatMap({ Int($0) }) else { continue }
            answered += count
            if line.contains("status=\"5") { failed += count }
        }
    }

    static func + (left: RequestCount, right: RequestCount) -> RequestCount {
        var sum = left
        sum.answered += right.answered
        sum.failed += right.failed
        return sum
    }

    static func - (left: RequestCount, right: RequestCount) -> RequestCount {
        var difference = left
        difference.answered -= right.answered
        difference.failed -= right.failed
        return difference
    }
}
