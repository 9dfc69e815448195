import MariaDB
import Time

/// Rows that are no longer needed: one kind for each table.
package enum Garbage: String, Sendable, CaseIterable {
    case idempotencyRecords = "idempotency_records"
    case swapTickets = "swap_tickets"
    case mergeTokens = "merge_tokens"
    /// The copies of tokens that the same request gets again; the tokens stay, to be told from unknown ones.
    case mergeTokenCopies = "merge_token_copies"
    case mergeOTPs = "merge_otps"
    case authorizationCodes = "authorization_codes"
    case webSessions = "web_sessions"
    case loginEvents = "login_events"
    case paks
    case rateLimits = "rate_limits"
    case refreshTokens = "refresh_tokens"
    /// Families come after their tokens. Otherwise the cascade would delete the tokens too, more than fit into a batch.
    case refreshFamilies = "refresh_families"
    /// The stored copies of token answers, which are sent again if an answer was lost. The families stay.
    case refreshAnswers = "refresh_answers"
    /// Answers that were kept for a day, for whoever has the key.
    case keyedRefreshAnswers = "keyed_refresh_answers"
    case revokedAccessTokens = "revoked_access_tokens"
    case deviceCodes = "device_codes"
    case authorizationRequests = "authorization_requests"
    case providerSignIns = "provider_sign_ins"
    /// An hour after they ended, so that a second decision is told from an unknown request.
    case pushApprovals = "push_approval_requests"
    /// Delivered or not.
    case events = "webhook_outbox"
    /// Those that nobody has tried to send for a day.
    case logoutTokens = "logout_tokens"
    case webhookAttempts = "webhook_attempts"
    case agentNonces = "agent_nonces"
    /// Requests of agents that nobody decided in time. They are marked.
    case agentApprovals = "agent_approvals"
    /// With their keys. Their history stays.
    case endedAgentApprovals = "ended_agent_approvals"
    /// Those that were revoked, after their requests.
    case revokedAgents = "revoked_agents"
    case agentApprovalHistory = "agent_approval_history"
    /// With their contents, when nobody can undo the merge any more; undone ones, too.
    case mergeJournals = "merge_journals"
    /// Of Apple, which would not be accepted again.
    case appleNotifications = "apple_notifications"
    /// The key material of retired keys. The rows stay.
    case signingKeys = "signing_keys"

    /// The most rows that one transaction deletes (accounts §0.4).
    package static let batch = 500
    /// The same for rows of this kind. A journal's parts, of megabytes, go with it.
    package var batch: Int { self == .mergeJournals ? 20 : Garbage.batch }
    /// Codes, merge tokens, revoked PAKs and ended families are kept for a while, so that their misuse can be
    /// distinguished from unknown values; agents and their requests, so that their users can look at them.
    fileprivate static let afterlife = Duration.seconds(30 * 86_400)
    /// How long developers see attempts to send them events (accounts §3.4).
    fileprivate static let attemptHistory = Duration.seconds(7 * 86_400)
}

extension AccountsTransaction {
    /// Deletes or clears at most `kind.batch` rows. Call it again until it returns fewer.
    ///
    /// - Parameters:
    ///   - loginHistory: how long the login history is kept.
    ///   - undoWindow: how long journals of merges are kept, if their own time is not over before; nil: not at all.
    /// - Returns: the number of rows.
    package func collect(_ kind: Garbage, loginHistory: Duration, undoWindow: Duration?) throws -> Int {
        let outcome =
            switch kind {
            case .idempotencyRecords:
                try connection.execute(
                    "DELETE FROM idempotency_records WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .swapTickets:
                try connection.execute(
                    "DELETE FROM swap_tickets WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .mergeTokens:
                try connection.execute(
                    "DELETE FROM merge_tokens WHERE expires_at <= ? ORDER BY expires_at LIMIT 500",
                    now - Garbage.afterlife)
            case .mergeTokenCopies:
                try connection.execute(
                    """
                    UPDATE merge_tokens SET sealed_token = NULL, copy_expires_at = NULL
                    WHERE copy_expires_at <= ? ORDER BY copy_expires_at LIMIT 500
                    """, now)
            case .mergeOTPs:
                try connection.execute(
                    "DELETE FROM merge_otps WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .authorizationCodes:
                // A session's codes say who is told when it ends. Sessions are locked before codes, so they are only read.
                try connection.executeMany(
                    "DELETE FROM authorization_codes WHERE id = ?",
                    connection.all(
                        """
                        SELECT c.id FROM authorization_codes c
                        WHERE c.expires_at <= ?
                          AND NOT EXISTS (SELECT 1 FROM web_sessions s WHERE s.handle = c.session_handle)
                        ORDER BY c.expires_at LIMIT 500
                        """, now - Garbage.afterlife
                    ) { row in try row.read(Int64.self) }
                ) { [$0] }
            case .webSessions:
                try connection.execute(
                    "DELETE FROM web_sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .loginEvents:
                try connection.execute(
                    "DELETE FROM login_events WHERE created_at <= ? ORDER BY created_at LIMIT 500", now - loginHistory)
            case .paks:
                try connection.execute(
                    "DELETE FROM paks WHERE revoked_at <= ? ORDER BY revoked_at LIMIT 500", now - Garbage.afterlife)
            case .rateLimits:
                try connection.execute(
                    "DELETE FROM rate_limits WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .refreshTokens:
                try connection.execute(
                    "DELETE FROM refresh_tokens WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .refreshFamilies:
                try connection.execute(
                    """
                    DELETE FROM refresh_families WHERE current_expires_at <= ? ORDER BY current_expires_at LIMIT 500
                    """, now - Garbage.afterlife)
            case .refreshAnswers:
                try connection.execute(
                    """
                    UPDATE refresh_families
                    SET sealed_answer = IF(answer_key_expires_at >= ?, sealed_answer, NULL),
                        answered_scope = IF(answer_key_expires_at >= ?, answered_scope, NULL), answer_expires_at = NULL
                    WHERE answer_expires_at < ? ORDER BY answer_expires_at LIMIT 500
                    """, now, now, now)
            case .keyedRefreshAnswers:
                // A release that knows no keys may have stored another answer since.
                try connection.execute(
                    """
                    UPDATE refresh_families
                    SET sealed_answer = IF(answer_expires_at >= ?, sealed_answer, NULL),
                        answered_scope = IF(answer_expires_at >= ?, answered_scope, NULL),
                        answer_key_digest = NULL, answer_key_expires_at = NULL
                    WHERE answer_key_expires_at < ? ORDER BY answer_key_expires_at LIMIT 500
                    """, now, now, now)
            case .revokedAccessTokens:
                try connection.execute(
                    "DELETE FROM revoked_access_tokens WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .deviceCodes:
                try connection.execute(
                    "DELETE FROM device_codes WHERE expires_at <= ? ORDER BY expires_at LIMIT 500",
                    now - Garbage.afterlife)
            case .authorizationRequests:
                try connection.execute(
                    "DELETE FROM authorization_requests WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .providerSignIns:
                try connection.execute(
                    "DELETE FROM provider_sign_ins WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .pushApprovals:
                try connection.execute(
                    "DELETE FROM push_approval_requests WHERE expires_at <= ? ORDER BY expires_at LIMIT 500",
                    now - .seconds(3600))
            case .events:
                try connection.execute(
                    "DELETE FROM webhook_outbox WHERE event_id < ? ORDER BY event_id LIMIT 500",
                    Event.firstID(at: now - Event.lifetime))
            case .logoutTokens:
                try connection.execute(
                    "DELETE FROM logout_tokens WHERE next_attempt_at <= ? ORDER BY next_attempt_at LIMIT 500",
                    now - .seconds(86_400))
            case .webhookAttempts:
                try connection.execute(
                    "DELETE FROM webhook_attempts WHERE at <= ? ORDER BY at LIMIT 500", now - Garbage.attemptHistory)
            case .agentNonces:
                try connection.execute(
                    "DELETE FROM agent_nonces WHERE expires_at < ? ORDER BY expires_at LIMIT 500", now)
            case .agentApprovals: try expireApprovals()
            case .endedAgentApprovals: try deleteApprovals(expiredBefore: now - Garbage.afterlife)
            case .revokedAgents: try deleteAgents(revokedBefore: now - Garbage.afterlife)
            case .agentApprovalHistory:
                // A day later than the trigger allows it, by whatever clock the database has.
                try connection.execute(
                    """
                    DELETE FROM agent_approval_history WHERE at <= ? - INTERVAL 7 YEAR - INTERVAL 1 DAY
                    ORDER BY at LIMIT 500
                    """, now)
            case .mergeJournals:
                try connection.executeMany(
                    "DELETE FROM merge_journals WHERE id = ?",
                    connection.all(
                        """
                        SELECT id FROM (
                            (SELECT id FROM merge_journals WHERE expires_at <= ? ORDER BY expires_at LIMIT 20)
                            UNION (SELECT id FROM merge_journals WHERE created_at <= ? ORDER BY created_at LIMIT 20)
                        ) AS ended
                        ORDER BY id LIMIT 20
                        """, now, now - (undoWindow ?? .zero)
                    ) { row in try row.read(MergeJournal.ID.self) }
                ) { [$0] }
            case .appleNotifications:
                try connection.execute(
                    "DELETE FROM apple_notifications WHERE expires_at <= ? ORDER BY expires_at LIMIT 500", now)
            case .signingKeys:
                try connection.execute(
                    """
                    UPDATE signing_keys SET sealed_private_key = NULL, public_jwk = IF(retired_at <= ?, NULL, public_jwk)
                    WHERE retired_at <= ? AND sealed_private_key IS NOT NULL
                       OR retired_at <= ? AND public_jwk IS NOT NULL
                    LIMIT 500
                    """, now - SigningKey.publicAfterlife, now - SigningKey.privateAfterlife,
                    now - SigningKey.publicAfterlife)
            }
        return outcome.affectedRows
    }
}
