import JSON
import MariaDB
import Time

extension AccountsTransaction {
    /// Denies the sign-ins that wait for a user, and those that the user has approved and no browser has completed, because
    /// the user's own sessions end, too. By the clock of another instance, an approval of a minute before may not be over yet.
    /// Nothing is added to the login history: whoever asked for that is.
    ///
    /// - Parameters:
    ///   - user: locked.
    ///   - reason: for the audit log.
    func denyPushApprovals(of user: User.ID, by actor: AuditEntry.Actor, because reason: String) throws {
        _ = try denyPushApprovals(among: connection.pushApprovals(naming: user), of: user, by: actor, because: reason)
    }

    /// - Parameters:
    ///   - named: all that name a user who is locked, in ascending order.
    ///   - user: to whom the requests belong from then on, and so the entries of the audit log.
    /// - Returns: those that it denied.
    func denyPushApprovals(
        among named: [Int64], of user: User.ID, by actor: AuditEntry.Actor, because reason: String
    ) throws -> Set<PushApproval.ID> {
        if named.isEmpty { return [] }
        let open = try connection.all(
            """
            SELECT r.id, r.public_id
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) named
            STRAIGHT_JOIN push_approval_requests r ON r.id = named.id
            WHERE r.status = 'pending' AND r.expires_at > ?
               OR r.status = 'approved' AND r.completed_at IS NULL AND COALESCE(r.decided_at > ?, TRUE)
            ORDER BY r.id
            """, String(decoding: named.json(), as: UTF8.self), now, now - PushApproval.completionLimit - .clockSlack
        ) { row in (id: try row.read(PushApproval.ID.self), publicID: try row.read(String?.self)) }
        try connection.executeMany(
            "UPDATE push_approval_requests SET status = 'denied', decided_at = ? WHERE id = ?", open
        ) { [now] in [now, $0.id] }
        for approval in open { auditDenial(of: approval.publicID, user: user, by: actor, because: reason) }
        return Set(open.map(\.id))
    }

    private func auditDenial(of publicID: String?, user: User.ID, by actor: AuditEntry.Actor, because reason: String) {
        audit(
            .pushApprovalDecided, user: user, actor: actor,
            [
                "push_approval": publicID.map { .string($0) } ?? .null,
                "decision": .string(PushApproval.Status.denied.rawValue), "reason": .string(reason),
            ])
    }
}
