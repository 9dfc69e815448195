import JSON
import MariaDB
import Time

/// What a batch of outcomes changed, for the metrics.
struct RecordedOutcomes {
    /// Events whose last attempt failed.
    var dead = 0
    var disabledEndpoints = 0
}

extension AccountsTransaction {
    /// Records the outcomes of attempts, and decides what comes next (accounts §3.4).
    ///
    /// A success counts for the event even if the lease has passed to another dispatcher; a failure does not.
    ///
    /// - Parameter time: the database's.
    func record(_ outcomes: [DeliveryOutcome], at time: Timestamp) throws -> RecordedOutcomes {
        var recorded = RecordedOutcomes()
        let outcomes = outcomes.sorted {
            ($0.delivery.application, $0.delivery.row) < ($1.delivery.application, $1.delivery.row)
        }
        // Applications are locked before what belongs to them.
        var locked: [Application.ID: RegisteredApplication] = [:]
        for application in try lockApplicationsToDisable(by: outcomes, at: time) {
            locked[application.id] = application
        }
        try recordSuccesses(outcomes.filter { $0.failure == nil }, at: time)
        for outcome in outcomes {
            guard let failure = outcome.failure else { continue }
            try countFailure(of: outcome.delivery.application, at: time)
            if let application = locked[outcome.delivery.application], try disables(application, outcome, at: time) {
                try disable(application, failure, at: time)
                locked[application.id] = nil
                recorded.disabledEndpoints += 1
            }
            if try recordFailure(outcome, failure, at: time) { recorded.dead += 1 }
        }
        try connection.executeMany(
            """
            INSERT INTO webhook_attempts (application_id, event_id, event_type, attempt, at, status, duration_ms,
                                          failure_reason)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, outcomes
        ) { outcome in
            let delivery = outcome.delivery
            return [
                delivery.application, delivery.eventID, delivery.eventType, delivery.attempt, delivery.claimedAt,
                outcome.status, Int(outcome.duration / .milliseconds(1)), outcome.failure?.reason,
            ]
        }
        return recorded
    }

    // MARK: Events

    private func recordSuccesses(_ outcomes: [DeliveryOutcome], at time: Timestamp) throws {
        try connection.executeMany("DELETE FROM webhook_failures WHERE application_id = ?", outcomes) {
            [$0.delivery.application]
        }
        try connection.executeMany(
            """
            UPDATE webhook_outbox
            SET attempts = attempts + 1, delivered_at = ?, dlq_at = NULL, next_attempt_at = NULL, lease = NULL,
                failure_reason = NULL
            WHERE id = ? AND delivered_at IS NULL
            """, outcomes
        ) { [time, $0.delivery.row] }
    }

    /// - Returns: whether it was the event's last attempt.
    private func recordFailure(
        _ outcome: DeliveryOutcome, _ failure: DeliveryFailure, at time: Timestamp
    ) throws -> Bool {
        let delivery = outcome.delivery
        // A probe spends no attempt, and goes to the end of the queue: another event may be one that is taken.
        let next =
            delivery.isProbe
            ? DeliverySchedule.probeInterval
            : DeliverySchedule.wait(afterFailures: delivery.attempt, retryAfter: outcome.retryAfter)
        let isCounted =
            try connection.execute(
                """
                UPDATE webhook_outbox
                SET attempts = attempts + ?, next_attempt_at = ?, dlq_at = ?, lease = NULL, failure_reason = ?
                WHERE id = ? AND lease = ?
                """, delivery.isProbe ? 0 : 1, next.map { time + $0 }, next == nil ? time : nil, failure.reason,
                delivery.row, delivery.lease
            ).affectedRows > 0
        return isCounted && next == nil
    }

    // MARK: Endpoints

    /// Opens the breaker after the fifth failure in a row.
    private func countFailure(of application: Application.ID, at time: Timestamp) throws {
        try connection.execute(
            """
            INSERT INTO webhook_failures (application_id, failures, failing_since) VALUES (?, 1, ?)
            ON DUPLICATE KEY UPDATE failures = failures + 1
            """, application, time)
        try connection.execute(
            """
            UPDATE webhook_failures SET probe_at = ?
            WHERE application_id = ? AND failures >= ? AND probe_at IS NULL
            """, time + DeliverySchedule.probeInterval, application, DeliverySchedule.breakerLimit)
    }

    /// Locks the applications whose endpoint these outcomes may disable.
    private func lockApplicationsToDisable(
        by outcomes: [DeliveryOutcome], at time: Timestamp
    ) throws -> [RegisteredApplication] {
        let failing = Set(outcomes.filter { $0.failure != nil }.map(\.delivery.application))
        if failing.isEmpty { return [] }
        var sql = ComposedSQL(
            "SELECT application_id FROM webhook_failures WHERE failing_since <= ?",
            time - DeliverySchedule.failureLimit)
        sql.append(" AND application_id IN ", oneOf: Array(failing))
        let long = Set(try connection.all(sql) { row in try row.read(Application.ID.self) })
        let gone = outcomes.filter { $0.failure?.isGone == true }.map(\.delivery.application)
        return try long.union(gone).sorted().compactMap { try connection.lockApplication($0) }
    }

    private func disables(
        _ application: RegisteredApplication, _ outcome: DeliveryOutcome, at time: Timestamp
    ) throws -> Bool {
        // Another URL is another endpoint.
        guard application.webhookDisabledAt == nil, application.webhookURL == outcome.delivery.url else { return false }
        if outcome.failure?.isGone == true { return true }
        return try connection.first(
            "SELECT 1 FROM webhook_failures WHERE application_id = ? AND failing_since <= ?", application.id,
            time - DeliverySchedule.failureLimit
        ) { row in try row.read(Int.self) } != nil
    }

    private func disable(
        _ application: RegisteredApplication, _ failure: DeliveryFailure, at time: Timestamp
    ) throws {
        try connection.execute(
            "UPDATE applications SET webhook_disabled_at = ? WHERE id = ?", time, application.id)
        audit(
            .webhookDisabled, user: application.owner, actor: .application(application.id),
            ["client_id": .string(application.clientID), "failure_reason": .string(failure.reason)])
    }
}

extension AccountsTransaction {
    /// Forgets that an endpoint failed: it is another one now, or is to be tried again.
    func forgetWebhookFailures(of application: Application.ID) throws {
        try connection.execute("DELETE FROM webhook_failures WHERE application_id = ?", application)
    }
}
