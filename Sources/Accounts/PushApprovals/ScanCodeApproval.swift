package import MariaDB
import Time

extension Accounts {
    /// A sign-in whose code the caller may scan, or has scanned.
    ///
    /// - Throws: `notFound` if there is none, or somebody else has scanned it.
    package func codeApproval(_ publicID: String, for caller: Caller, _ connection: Connection) throws -> PushApproval {
        guard let found = try connection.codeApproval(publicID, for: caller.id, at: clock.now) else {
            throw Failure.notFound
        }
        return found
    }

    /// Binds a sign-in to the caller, who scanned its code first. Again, it changes nothing.
    ///
    /// - Throws: `notFound` if there is none, or somebody else has scanned it.
    package func scanCodeApproval(
        _ publicID: String, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> PushApproval {
        guard publicID.isASCII else { throw Failure.notFound }
        let user = try transaction.lockCaller(caller).caller.id
        let (connection, now) = (transaction.connection, transaction.now)
        try connection.execute(
            """
            UPDATE push_approval_requests SET requested_user_id = ?
            WHERE public_id = ? AND by_code AND requested_user_id IS NULL AND status = 'pending' AND expires_at > ?
            """, user, publicID, now)
        guard let found = try connection.codeApproval(publicID, for: user, at: now), found.isScanned else {
            throw Failure.notFound
        }
        return found
    }
}

extension Connection {
    fileprivate func codeApproval(
        _ publicID: String, for user: User.ID, at now: Timestamp
    ) throws -> PushApproval? {
        guard publicID.isASCII else { return nil }
        let sql = ComposedSQL(
            select: PushApproval.columns,
            from: """
                push_approval_requests r WHERE r.public_id = ? AND r.by_code
                AND (r.requested_user_id = ? OR r.requested_user_id IS NULL AND r.expires_at > ?)
                """, publicID, user, now)
        return try first(sql) { row in try PushApproval(from: &row, at: now) }
    }
}
