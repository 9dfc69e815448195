package import Database
package import MariaDB
package import Time

/// One run of one request's writes. The whole may run again from the start, with a new value.
///
/// Order of locks: the horizon of events if any may be before it, records of end users in ascending order of their
/// surrogate keys (analytics §4.4), then everything else.
package final class AnalyticsTransaction {
    package let connection: Connection
    package let now: Timestamp

    package init(connection: Connection, now: Timestamp) {
        self.connection = connection
        self.now = now
    }
}

extension RetryPolicy {
    /// A duplicate here means that another request was faster: the repeat sees its row (analytics §3.3).
    package static let analytics = RetryPolicy(
        attempts: 8,
        racyKeys: [
            "app_users_project_user", "identity_claims_claim", "questionnaire_responses_live", "events_client_event",
        ])
}

extension Analytics {
    /// Runs a rule in one transaction. The closure may run again.
    package func write<Result>(
        _ database: Database, _ rule: (AnalyticsTransaction) throws -> Result
    ) throws -> Result {
        try database.write(at: clock, rule)
    }
}

extension Database {
    /// Runs a rule in one transaction. The closure may run again, and finds the time of its own run.
    package func write<Result>(at clock: Clock, _ rule: (AnalyticsTransaction) throws -> Result) throws -> Result {
        try transaction(.analytics) { connection in
            try rule(AnalyticsTransaction(connection: connection, now: clock.now))
        }
    }
}
