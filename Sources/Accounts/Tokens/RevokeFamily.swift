import JSON
import MariaDB

extension Accounts {
    /// Revokes a family with its access tokens. If the family is already revoked, nothing changes and no event is
    /// emitted.
    func revoke(
        _ family: TokenFamily.ID, of grant: Grant.ID, _ application: Application, because reason: RevocationReason,
        in transaction: AccountsTransaction
    ) throws {
        guard try transaction.revoke(family) else { return }
        guard let subject = try transaction.connection.subject(of: grant) else { return }
        transaction.audit(
            .tokensRevoked, user: subject.canonical, actor: .application(application.id),
            ["client_id": .string(application.clientID), "reason": .string(reason.rawValue)])
        transaction.emit(
            .tokenRevoked(
                of: subject.sub,
                Event.Notice(application: application.id, canonical: subject.canonical, reason: reason)))
    }
}

extension AccountsTransaction {
    /// - Returns: false if it was already revoked.
    func revoke(_ family: TokenFamily.ID) throws -> Bool {
        try connection.execute(
            """
            UPDATE refresh_families SET revoked_at = ?, current_expires_at = LEAST(current_expires_at, ?),
                                        sealed_answer = NULL, answer_expires_at = NULL,
                                        answer_key_digest = NULL, answer_key_expires_at = NULL
            WHERE id = ? AND revoked_at IS NULL
            """, now, now, family
        ).affectedRows > 0
    }

    /// - Parameter grant: locked for writing, so that no family can start at the same time.
    /// - Returns: whether one of them was live.
    @discardableResult
    func revokeFamilies(of grant: Grant.ID) throws -> Bool {
        try connection.execute(
            """
            UPDATE refresh_families SET revoked_at = ?, current_expires_at = LEAST(current_expires_at, ?),
                                        sealed_answer = NULL, answer_expires_at = NULL,
                                        answer_key_digest = NULL, answer_key_expires_at = NULL
            WHERE grant_id = ? AND revoked_at IS NULL
            """, now, now, grant
        ).affectedRows > 0
    }
}
