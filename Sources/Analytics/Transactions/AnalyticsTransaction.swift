package import Database
package import MariaDB
package import Time

/// One attempt to run one rule's writes. If the attempt fails, the rule runs again from the start with a new value.
///
/// Order of locks: the horizon of events if an event may be before it; then records of end users in ascending order of
/// their surrogate keys (analytics §4.4); then everything else.
package final class AnalyticsTransaction {
    package let connection: Connection
    package let now: Timestamp
    /// Of the key on whose behalf it writes, if it is a request's.
    let proof: KeyProof?
    /// Whether no run of the rule came before this one. If one did, others may have written what it tried to write.
    let isFirstRun: Bool

    fileprivate init(_ connection: Connection, now: Timestamp, proof: KeyProof? = nil, isFirstRun: Bool = false) {
        self.connection = connection
        self.now = now
        self.proof = proof
        self.isFirstRun = isFirstRun
    }

    /// Confirms the request's key, if no statement has done so yet.
    func confirmKey() throws {
        if let proof { try connection.confirm(proof) }
    }

    /// For writes in a transaction that is not only this context's, such as a sign-in's (accounts Stage 5). Whoever runs that
    /// one repeats it after the duplicates of `Analytics.retryPolicy`, too.
    package static func joining(_ connection: Connection, at now: Timestamp) -> AnalyticsTransaction {
        AnalyticsTransaction(connection, now: now)
    }
}

extension Analytics {
    /// Runs a rule in one transaction. Requests, commands and jobs have no other way to write the analytics tables, but for
    /// single statements whose failure fails nothing (`Database.autocommit`).
    ///
    /// If the rule throws, nothing is written. The rule may run several times from its first line; each run gets its
    /// own time.
    ///
    /// - Parameter proof: of a remembered key, which one of the rule's first statements confirms, or else the last one.
    package static func write<Result>(
        _ database: Database, at clock: Clock = .system, proof: KeyProof? = nil,
        _ rule: (AnalyticsTransaction) throws -> Result
    ) throws -> Result {
        var isFirstRun = true
        return try database.transaction(retryPolicy) { connection in
            defer { isFirstRun = false }
            let transaction = AnalyticsTransaction(
                connection, now: clock.now, proof: proof, isFirstRun: isFirstRun)
            let result = try rule(transaction)
            try transaction.confirmKey()
            return result
        }
    }

    /// The same with this context's clock.
    func write<Result>(
        _ database: Database, proof: KeyProof? = nil, _ rule: (AnalyticsTransaction) throws -> Result
    ) throws -> Result {
        try Self.write(database, at: clock, proof: proof, rule)
    }

    /// A duplicate on one of these indexes means that the row was there already, or that another request was faster. The
    /// repeated transaction sees it (analytics §3.3).
    package static let retryPolicy = RetryPolicy(
        attempts: 8,
        racyKeys: [
            "app_users_project_user", "identity_claims_claim", "questionnaire_responses_live", "events_client_event",
        ])
}
