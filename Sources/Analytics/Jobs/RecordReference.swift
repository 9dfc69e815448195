/// A column that holds the id of a record, `app_users.merged_into` included: what must be rewritten before a tombstone can
/// go. A table that gets such a column gets a case here.
package enum RecordReference: String, CaseIterable, Sendable {
    case events
    case metricEvents = "metric_events"
    case funnelEvents = "funnel_events"
    case issueOccurrences = "issue_occurrences"
    case feedback
    case attachments = "event_attachments"
    case questionnaireResponses = "questionnaire_responses"
    case apps = "app_user_apps"
    case eventCounts = "app_user_event_counts"
    case claims = "identity_claims"
    case tombstones = "app_users"

    package var table: String { rawValue }
}
