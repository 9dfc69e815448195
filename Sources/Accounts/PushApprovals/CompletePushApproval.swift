package import MariaDB
import Time

extension Accounts {
    /// How far a request is; nil if it is not this browser's. Changes nothing.
    ///
    /// A denied request looks as one that nobody decides: who is denied learns nothing of whom they asked.
    package func progress(
        of publicID: String, in browser: Browser, _ connection: Connection
    ) throws -> PushApprovalProgress? {
        guard let found = try connection.browsersPushApproval(publicID, browser, at: clock.now) else { return nil }
        if found.isCompletable { return .approved }
        guard found.isWaiting else { return .over }
        if found.isUnscanned { return .unscanned }
        let number = try serverKey.open(found.sealedNumber, for: PushApproval.row(publicID))
        return .waiting(number: String(decoding: number, as: UTF8.self))
    }

    /// Signs the browser in whose request was approved. This happens once.
    ///
    /// - Parameter cookie: the one of the session that ends.
    /// - Returns: the cookie that opens the new session; nil if the request does not sign anybody in any more, or its user
    ///   is gone.
    package func completePushApproval(
        _ publicID: String, in browser: Browser, replacing cookie: String?, in transaction: AccountsTransaction
    ) throws -> String? {
        let (connection, now) = (transaction.connection, transaction.now)
        guard let found = try connection.browsersPushApproval(publicID, browser, at: now), let user = found.user else {
            return nil
        }
        let person = try transaction.lockUsers(user)[user]
        // Read again under the lock: the request may have been used up or moved, and the user absorbed.
        guard let again = try connection.browsersPushApproval(publicID, browser, at: now), again.isCompletable,
            again.user == user, let person, person.deletedAt == nil,
            try connection.absorbedUsers(among: user, nil).isEmpty
        else { return nil }
        // The request comes after sessions and the login history (accounts §0.4). Whoever else changes it holds the user.
        let session = try transaction.insertWebSession(for: user, nil, replacing: cookie)
        try transaction.noteLogin(.webLogin, of: user)
        try connection.execute(
            "UPDATE push_approval_requests SET completed_at = ? WHERE id = ?", now, again.id)
        return session.text
    }
}

/// A request as its browser is told of it.
private struct BrowsersPushApproval {
    let id: PushApproval.ID
    /// Whose sign-in it is, if whoever decided is that person.
    let user: User.ID?
    let sealedNumber: [UInt8]
    /// Whether it was approved, in time, and not used up.
    let isCompletable: Bool
    let isWaiting: Bool
    let isUnscanned: Bool
}

extension Connection {
    fileprivate func browsersPushApproval(
        _ publicID: String, _ browser: Browser, at now: Timestamp
    ) throws -> BrowsersPushApproval? {
        guard publicID.isASCII else { return nil }
        return try first(
            """
            SELECT id, IF(approved_user_id = requested_user_id, requested_user_id, NULL), sealed_number,
                   IFNULL(status = 'approved' AND completed_at IS NULL AND decided_at > ?, FALSE),
                   status IN ('pending', 'denied') AND expires_at > ?, by_code AND requested_user_id IS NULL
            FROM push_approval_requests WHERE public_id = ? AND browser_digest = ?
            """, now - PushApproval.completionLimit, now, publicID, browser.digest
        ) { row in
            BrowsersPushApproval(
                id: try row.read(), user: try row.read(), sealedNumber: try row.read(), isCompletable: try row.read(),
                isWaiting: try row.read(), isUnscanned: try row.read())
        }
    }
}
