import JSON
import MariaDB
import OpenSSL
import Time

/// What a person says about a sign-in elsewhere.
package enum PushDecision: Sendable {
    /// - Parameter number: which the browser shows.
    case approve(number: String)
    case deny
}

extension Accounts {
    /// Decides a request for the caller. The first decision counts; so many wrong numbers are one, too.
    ///
    /// - Returns: `numberMismatch`, `alreadyDecided` or `approvalExpired` as a result and not as an error, because a wrong
    ///   number must be counted.
    /// - Throws: `notFound` if the request is not about the caller.
    package func decidePushApproval(
        _ publicID: String, _ decision: PushDecision, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> Result<PushApproval.Status, Failure> {
        let user = try transaction.lockCaller(caller).caller
        guard let found = try transaction.pushApproval(publicID, of: user.id) else { throw Failure.notFound }
        if found.status != .pending { return .failure(.alreadyDecided) }
        if found.expiresAt <= transaction.now { return .failure(.approvalExpired) }
        switch decision {
        case .deny:
            try transaction.decide(found, .denied, by: user.id)
            return .success(.denied)
        case .approve(let number):
            let expected = try serverKey.open(found.sealedNumber, for: PushApproval.row(publicID))
            if constantTimeEqual(Array(number.utf8), expected) {
                try transaction.decide(found, .approved, by: user.id)
                return .success(.approved)
            }
            if found.tries + 1 >= PushApproval.maximumTries {
                try transaction.decide(found, .denied, by: user.id, "wrong_numbers")
            }
            try transaction.connection.execute(
                "UPDATE push_approval_requests SET tries = tries + 1 WHERE id = ?", found.id)
            return .failure(.numberMismatch)
        }
    }
}

/// A request of a locked user, whom everybody holds who changes it.
private struct DecidablePushApproval {
    let id: PushApproval.ID
    let publicID: String
    let status: PushApproval.Status
    let sealedNumber: [UInt8]
    let tries: Int
    let address: String?
    let userAgent: String?
    let expiresAt: Timestamp
}

extension AccountsTransaction {
    /// Locks nothing: a denial writes to the login history before the request is locked (accounts §0.4).
    ///
    /// - Parameter user: locked.
    fileprivate func pushApproval(_ publicID: String, of user: User.ID) throws -> DecidablePushApproval? {
        guard publicID.isASCII else { return nil }
        return try connection.first(
            """
            SELECT id, status, sealed_number, tries, ip, user_agent, expires_at FROM push_approval_requests
            WHERE public_id = ? AND requested_user_id = ?
            """, publicID, user
        ) { row in
            DecidablePushApproval(
                id: try row.read(), publicID: publicID,
                status: PushApproval.Status(rawValue: try row.read()) ?? .expired, sealedNumber: try row.read(),
                tries: try row.read(), address: try row.read(), userAgent: try row.read(), expiresAt: try row.read())
        }
    }

    /// - Parameter reason: for the audit log.
    fileprivate func decide(
        _ approval: DecidablePushApproval, _ status: PushApproval.Status, by user: User.ID, _ reason: String? = nil
    ) throws {
        if status == .denied {
            // The history tells of the browser, and not of the phone that denied it.
            let browser = Origin(
                requestID: origin.requestID, address: approval.address ?? "", userAgent: approval.userAgent)
            try noteLogin(.refused, of: user, from: browser)
        }
        try connection.execute(
            "UPDATE push_approval_requests SET status = ?, approved_user_id = ?, decided_at = ? WHERE id = ?",
            status.rawValue, user, now, approval.id)
        audit(
            .pushApprovalDecided, user: user, actor: .user(user),
            [
                "push_approval": .string(approval.publicID), "decision": .string(status.rawValue),
                "reason": reason.map { .string($0) } ?? .null,
            ])
    }
}
