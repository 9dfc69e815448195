package import MariaDB
package import Time

/// How far the background work on accounts is behind. It reads only the ends of a few indexes, which is cheap enough
/// for twice a minute.
package struct AccountsUpkeep: Sendable {
    /// The time since the oldest row expired, of the kinds that `Garbage` deletes at once.
    package let garbageDelay: Duration
    /// The time since the next event was due to be delivered to a receiver that is neither disabled nor only probed. Replays,
    /// which are sent after all others, do not count.
    package let outboxDelay: Duration
    /// The time since the next logout token was due to be sent to an application of whose tokens none has failed.
    package let logoutDelay: Duration
    /// The number of receivers that are only probed, of those that are sent to.
    package let openBreakers: Int
    /// The number of receivers that are disabled, of those that would be sent to.
    package let disabledEndpoints: Int
    /// The time since the active key began to sign; nil if there is no active key.
    package let signingKeyAge: Duration?
}

extension Connection {
    package func accountsUpkeep(at now: Timestamp) throws -> AccountsUpkeep? {
        try first(
            """
            SELECT (SELECT MIN(expires_at) FROM
                    (SELECT MIN(expires_at) AS expires_at FROM idempotency_records
                     UNION ALL SELECT MIN(expires_at) FROM swap_tickets
                     UNION ALL SELECT MIN(copy_expires_at) FROM merge_tokens
                     UNION ALL SELECT MIN(expires_at) FROM merge_otps
                     UNION ALL SELECT MIN(expires_at) FROM web_sessions
                     UNION ALL SELECT MIN(expires_at) FROM rate_limits
                     UNION ALL SELECT MIN(expires_at) FROM refresh_tokens
                     UNION ALL SELECT MIN(expires_at) FROM revoked_access_tokens
                     UNION ALL SELECT MIN(expires_at) FROM authorization_requests
                     UNION ALL SELECT MIN(expires_at) FROM provider_sign_ins) AS oldest),
                   (SELECT MIN(event_id) FROM webhook_outbox),
                   (SELECT MIN(due.due_at)
                    FROM (SELECT application_id, MIN(next_attempt_at) AS due_at
                          FROM webhook_outbox FORCE INDEX (webhook_outbox_application_due)
                          WHERE is_replayed = FALSE AND next_attempt_at <= NOW(3)
                          GROUP BY application_id, is_replayed) AS due
                    STRAIGHT_JOIN applications a ON a.id = due.application_id
                    LEFT JOIN webhook_failures f ON f.application_id = due.application_id
                    WHERE a.webhook_url IS NOT NULL AND a.webhook_disabled_at IS NULL AND a.status = 'active'
                      AND f.probe_at IS NULL),
                   (SELECT MIN(due.due_at)
                    FROM (SELECT application_id, MIN(next_attempt_at) AS due_at
                          FROM logout_tokens FORCE INDEX (logout_tokens_application_due)
                          WHERE next_attempt_at <= NOW(3) GROUP BY application_id) AS due
                    STRAIGHT_JOIN applications a ON a.id = due.application_id
                    WHERE a.backchannel_logout_uri IS NOT NULL AND a.status = 'active'
                      AND NOT EXISTS (SELECT 1 FROM logout_tokens t
                                      WHERE t.application_id = due.application_id AND t.attempts > 0)),
                   (SELECT COUNT(*) FROM webhook_failures f JOIN applications a ON a.id = f.application_id
                    WHERE f.probe_at IS NOT NULL AND a.webhook_disabled_at IS NULL
                      AND a.webhook_url IS NOT NULL AND a.status = 'active'),
                   (SELECT COUNT(*) FROM applications
                    WHERE webhook_disabled_at IS NOT NULL AND webhook_url IS NOT NULL AND status = 'active'),
                   (SELECT MAX(activated_at) FROM signing_keys WHERE activated_at <= ?)
            """, now
        ) { row in
            let expiries = [
                try row.read(Timestamp?.self),
                try row.read(String?.self).map { Event.time(ofID: $0) + Event.lifetime },
            ]
            return AccountsUpkeep(
                garbageDelay: now.delay(since: expiries.compactMap { $0 }.min()),
                outboxDelay: now.delay(since: try row.read()), logoutDelay: now.delay(since: try row.read()),
                openBreakers: try row.read(), disabledEndpoints: try row.read(),
                signingKeyAge: try row.read(Timestamp?.self).map { now - $0 })
        }
    }
}
