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

    fileprivate init(_ connection: Connection, now: Timestamp) {
        self.connection = connection
        self.now = now
    }
}

extension Analytics {
    /// Runs a rule in one transaction. Requests, commands and jobs have no other way into one on the analytics tables.
    ///
    /// What the rule throws leaves nothing behind. It may run several times, from its first line, and finds the time of its
    /// own run.
    package static func write<Result>(
        _ database: Database, at clock: Clock = .system, _ rule: (AnalyticsTransaction) throws -> Result
    ) throws -> Result {
        try database.transaction(retryPolicy) { connection in
            try rule(AnalyticsTransaction(connection, now: clock.now))
        }
    }

    /// The same at this context's clock.
    func write<Result>(_ database: Database, _ rule: (AnalyticsTransaction) throws -> Result) throws -> Result {
        try Self.write(database, at: clock, rule)
    }

    /// A duplicate on one of these indexes means that another request was faster: the repeat sees its row (analytics §3.3).
    package static let retryPolicy = RetryPolicy(
        attempts: 8,
        racyKeys: [
            "app_users_project_user", "identity_claims_claim", "questionnaire_responses_live", "events_client_event",
        ])
}
