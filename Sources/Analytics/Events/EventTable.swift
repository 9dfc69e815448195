/// A table of events. It is partitioned by month, and its rows are deleted when they are too old.
package enum EventTable: String, CaseIterable, Sendable {
    case events
    case metricEvents = "metric_events"
    case funnelEvents = "funnel_events"

    package var name: String { rawValue }

    /// How long rows are kept if the project does not say (analytics §14.2).
    package var defaultRetentionDays: Int {
        switch self {
        case .events: 120
        case .metricEvents, .funnelEvents: 365
        }
    }
}
