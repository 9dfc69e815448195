import Foundation

/// An operation whose outcome and duration are reported as a metric. Report one outcome.
public struct TrackedOperation: Sendable {
    enum Phase: String {
        case start, complete, fail, cancel
    }

    /// Belongs to all events of the operation; a UUID.
    public let trackingID = UUID().uuidString
    private let metric: String
    private let reporter: AnalyticsReporter
    private let began = ContinuousClock.now

    init(metric: String, reporter: AnalyticsReporter) { (self.metric, self.reporter) = (metric, reporter) }

    /// It succeeded.
    public func complete(attributes: [String: String?] = [:], source: SourceLocation = SourceLocation()) {
        report(.complete, .info, timed(attributes), source)
    }

    /// It failed.
    ///
    /// - Parameters:
    ///   - error: what went wrong, for people.
    ///   - attributes: as of `AnalyticsReporter.track`.
    ///   - source: where it is reported; by default the caller's place in its file.
    public func fail(_ error: String, attributes: [String: String?] = [:], source: SourceLocation = SourceLocation()) {
        report(.fail, .error, timed(attributes).merging(["error": error]) { $1 }, source)
    }

    /// Somebody ended it.
    public func cancel(attributes: [String: String?] = [:], source: SourceLocation = SourceLocation()) {
        report(.cancel, .info, timed(attributes), source)
    }

    func report(_ phase: Phase, _ level: EventLevel, _ attributes: [String: String?], _ source: SourceLocation) {
        reporter.track(
            "metric:\(metric):\(phase.rawValue)", level: level,
            attributes: attributes.merging(["tracking_id": trackingID]) { $1 }, source: source)
    }

    private func timed(_ attributes: [String: String?]) -> [String: String?] {
        attributes.merging(["duration_ms": String(wholeMilliseconds(since: began))]) { $1 }
    }
}

/// A screen that the user is on.
public struct ScreenView: Sendable {
    let name: String
    let reporter: AnalyticsReporter
    private let began = ContinuousClock.now

    init(name: String, reporter: AnalyticsReporter) { (self.name, self.reporter) = (name, reporter) }

    /// Reports that the user left it, and how long it was there.
    public func disappeared(source: SourceLocation = SourceLocation()) {
        reporter.track(
            "sdk:screen_disappeared", level: .debug, screen: name,
            attributes: ["_duration_ms": String(wholeMilliseconds(since: began))], source: source)
    }
}

private func wholeMilliseconds(since start: ContinuousClock.Instant) -> Int {
    Int((ContinuousClock.now - start) / .milliseconds(1))
}
