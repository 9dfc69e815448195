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
    /// The time since the oldest token that Apple has not revoked yet was queued.
    package let revocationDelay: Duration
    /// The time since the next deleted account was due to be purged.
    package let purgeDelay: Duration
    /// The time since the next anonymous account was due to be pruned; zero if none ever are.
    package let pruneDelay: Duration
    /// The number of receivers that are only probed, of those that are sent to.
    package let openBreakers: Int
    /// The number of receivers that are disabled, of those that would be sent to.
    package let disabledEndpoints: Int
    /// The time since the active key began to sign; nil if there is no active key.
    package let signingKeyAge: Duration?
}

extension Connection {
    /// - Parameter inactivity: after which a timer prunes anonymous accounts; nil: never.
    package func accountsUpkeep(
        at now: Timestamp, anonymousInactivity inactivity: Duration? = nil
    ) throws -> AccountsUpkeep? {
        let (oldestEvent, oldestLogoutToken) = (try oldestDueEvent(), try oldestDueLogoutToken())
        return try first(
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
                     UNION ALL SELECT MIN(expires_at) FROM provider_sign_ins
                     UNION ALL SELECT MIN(expires_at) FROM agent_nonces
                     UNION ALL SELECT MIN(expires_at) FROM merge_journals
                     UNION ALL SELECT MIN(expires_at) FROM apple_notifications
                     UNION ALL SELECT MIN(expires_at) FROM agent_approvals WHERE status = 'pending') AS oldest),
                   (SELECT MIN(event_id) FROM webhook_outbox),
                   (SELECT created_at FROM apple_revocations ORDER BY id LIMIT 1),
                   (SELECT u.purge_at FROM users u
                    WHERE u.purge_at <= ? AND u.deleted_at IS NOT NULL
                      AND NOT EXISTS (SELECT 1 FROM identity_links l WHERE l.linked_user_id = u.id)
                    ORDER BY u.purge_at LIMIT 1),
                   (SELECT u.last_active_at FROM users u
                    WHERE u.anonymous = TRUE AND u.last_active_at < ? AND u.deleted_at IS NULL
                      AND NOT EXISTS (SELECT 1 FROM identity_links l WHERE l.linked_user_id = u.id)
                      AND NOT EXISTS (SELECT 1 FROM identity_links l WHERE l.primary_user_id = u.id)
                    ORDER BY u.last_active_at LIMIT 1),
                   (SELECT COUNT(*) FROM webhook_failures f JOIN applications a ON a.id = f.application_id
                    WHERE f.probe_at IS NOT NULL AND a.webhook_disabled_at IS NULL
                      AND a.webhook_url IS NOT NULL AND a.status = 'active'),
                   (SELECT COUNT(*) FROM applications
                    WHERE webhook_disabled_at IS NOT NULL AND webhook_url IS NOT NULL AND status = 'active'),
                   (SELECT MAX(activated_at) FROM signing_keys WHERE activated_at <= ?)
            """, now, inactivity.map { now - $0 }, now
        ) { row in
            let expiries = [
                try row.read(Timestamp?.self),
                try row.read(String?.self).map { Event.time(ofID: $0) + Event.lifetime },
            ]
            return AccountsUpkeep(
                garbageDelay: now.delay(since: expiries.compactMap { $0 }.min()),
                outboxDelay: now.delay(since: oldestEvent), logoutDelay: now.delay(since: oldestLogoutToken),
                revocationDelay: now.delay(since: try row.read()), purgeDelay: now.delay(since: try row.read()),
                pruneDelay: now.delay(since: try row.read(Timestamp?.self).map { $0 + (inactivity ?? .zero) }),
                openBreakers: try row.read(), disabledEndpoints: try row.read(),
                signingKeyAge: try row.read(Timestamp?.self).map { now - $0 })
        }
    }
}

/// Both by the database's clock, as dispatchers see them, and in their way: few rows are read, of many rows only the first of
/// each application (`dueRowsReadAtOnce`).
extension Connection {
    private func oldestDueEvent() throws -> Timestamp? {
        let waiting = try first(
            """
            SELECT COUNT(*) FROM (SELECT 1 FROM webhook_outbox FORCE INDEX (webhook_outbox_due)
                                  WHERE next_attempt_at <= NOW(3) LIMIT ?) AS few
            """, dueRowsReadAtOnce, read: { row in try row.read(Int.self) })
        guard let waiting, waiting > 0 else { return nil }
        var sql = ComposedSQL(
            """
            SELECT due.is_replayed, due.due_at
            FROM (SELECT application_id, is_replayed, MIN(next_attempt_at) AS due_at FROM webhook_outbox
            """)
        sql.append(
            waiting < dueRowsReadAtOnce
                ? " FORCE INDEX (webhook_outbox_due)" : " FORCE INDEX (webhook_outbox_application_due)")
        sql.append(
            """
             WHERE next_attempt_at <= NOW(3) GROUP BY application_id, is_replayed) AS due
            STRAIGHT_JOIN applications a ON a.id = due.application_id
            LEFT JOIN webhook_failures f ON f.application_id = due.application_id
            WHERE a.webhook_url IS NOT NULL AND a.webhook_disabled_at IS NULL AND a.status = 'active'
              AND f.probe_at IS NULL
            ORDER BY due.is_replayed, due.due_at LIMIT 1
            """)
        // MariaDB does not jump if the statement says which of the two it wants.
        let oldest = try first(sql) { row in (isReplay: try row.read(Bool.self), dueAt: try row.read(Timestamp.self)) }
        return oldest.flatMap { $0.isReplay ? nil : $0.dueAt }
    }

    private func oldestDueLogoutToken() throws -> Timestamp? {
        let waiting = try first(
            """
            SELECT COUNT(*) FROM (SELECT 1 FROM logout_tokens FORCE INDEX (logout_tokens_due)
                                  WHERE next_attempt_at <= NOW(3) LIMIT ?) AS few
            """, dueRowsReadAtOnce, read: { row in try row.read(Int.self) })
        guard let waiting, waiting > 0 else { return nil }
        var sql = ComposedSQL(
            """
            SELECT MIN(due.due_at) FROM (SELECT application_id, MIN(next_attempt_at) AS due_at FROM logout_tokens
            """)
        sql.append(
            waiting < dueRowsReadAtOnce
                ? " FORCE INDEX (logout_tokens_due)" : " FORCE INDEX (logout_tokens_application_due)")
        sql.append(
            """
             WHERE next_attempt_at <= NOW(3) GROUP BY application_id) AS due
            STRAIGHT_JOIN applications a ON a.id = due.application_id
            WHERE a.backchannel_logout_uri IS NOT NULL AND a.status = 'active'
              AND (SELECT t.attempts FROM logout_tokens t FORCE INDEX (logout_tokens_application_attempts)
                   WHERE t.application_id = due.application_id ORDER BY t.attempts DESC LIMIT 1) = 0
            """)
        return try first(sql) { row in try row.read(Timestamp?.self) } ?? nil
    }
}
