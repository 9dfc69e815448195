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
    ///   - survivor: to whom the requests move, and so the entries of the audit log.
    func denyPushApprovals(
        of user: User.ID, by actor: AuditEntry.Actor, because reason: String, notedFor survivor: User.ID? = nil
    ) throws {
        let open = try connection.all(
            """
            SELECT r.id, r.public_id
            FROM (SELECT id FROM push_approval_requests FORCE INDEX (push_approval_requests_requested)
                  WHERE requested_user_id = ?
                  UNION SELECT id FROM push_approval_requests FORCE INDEX (push_approval_requests_approved)
                  WHERE approved_user_id = ?) named
            STRAIGHT_JOIN push_approval_requests r ON r.id = named.id
            WHERE r.status = 'pending' AND r.expires_at > ?
               OR r.status = 'approved' AND r.completed_at IS NULL AND COALESCE(r.decided_at > ?, TRUE)
            ORDER BY r.id
            """, user, user, now, now - PushApproval.completionLimit - .clockSlack
        ) { row in (id: try row.read(PushApproval.ID.self), publicID: try row.read(String?.self)) }
        try connection.executeMany(
            "UPDATE push_approval_requests SET status = 'denied', decided_at = ? WHERE id = ?", open
        ) { [now] in [now, $0.id] }
        for approval in open { auditDenial(of: approval.publicID, user: survivor ?? user, by: actor, because: reason) }
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
