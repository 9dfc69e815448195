import Database
import MariaDB
import OpenSSL
import Text
import Time

extension Accounts {
    /// Begins a sign-in that the person with this login_email approves in the app. Only this browser can be signed in.
    ///
    /// Neither the result nor its cost shows whether somebody has the address: every address takes the same statements.
    ///
    /// - Parameter application: that the sign-in leads to.
    /// - Throws: `rateLimited`, by the address alone.
    package func startPushApproval(
        for address: String, in browser: Browser, leadingTo application: Application.ID?,
        in transaction: AccountsTransaction
    ) throws -> StartedPushApproval {
        let connection = transaction.connection
        let typed = String(decoding: FoldedAddress(address).bytes, as: UTF8.self)
        // Nobody has the empty address, which stands for those that count as absent (accounts §0.6).
        let folded = FoldedAddress(EmailAddress.present(address) ?? "")
        let found = try connection.addressee(folded)
        let user = try transaction.lockAddressee(found)
        // Read again under the lock: a merge may have come between.
        guard try connection.addressee(folded) == found else { throw TransactionMustRestart() }
        // Thrown, so that refused starts leave the person their own ones.
        if let wait = try transaction.count(.pushStartsOfAddress, for: typed) {
            throw Failure.rateLimited(retryAfter: wait)
        }
        // A person may have several addresses, which must not show by a refusal.
        let counted = user.id == .nobody ? "nobody \(typed)" : "user \(user.id.rawValue)"
        let isWithinLimit = try transaction.count(.pushStartsOfUser, for: counted) == nil
        let recipient = user.isDeleted || !isWithinLimit ? .nobody : user.id
        return try insertPushApproval(of: recipient, in: browser, leadingTo: application, byCode: false, transaction)
    }

    /// Begins a sign-in that whoever scans its code approves in the app. Only this browser can be signed in.
    ///
    /// - Parameter application: that the sign-in leads to.
    package func startCodeApproval(
        in browser: Browser, leadingTo application: Application.ID?, in transaction: AccountsTransaction
    ) throws -> StartedPushApproval {
        try insertPushApproval(of: .nobody, in: browser, leadingTo: application, byCode: true, transaction)
    }

    private func insertPushApproval(
        of user: User.ID, in browser: Browser, leadingTo application: Application.ID?, byCode: Bool,
        _ transaction: AccountsTransaction
    ) throws -> StartedPushApproval {
        let publicID = Base64URL.encode(randomBytes(16))
        let number = String(Int.random(in: 10...99))
        let expiresAt = transaction.now + PushApproval.lifetime
        try transaction.connection.execute(
            """
            INSERT INTO push_approval_requests
                (requested_user_id, public_id, browser_digest, sealed_number, ip, user_agent, application_id, by_code,
                 created_at, expires_at)
            VALUES (NULLIF(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, user, publicID, browser.digest,
            serverKey.seal(Array(number.utf8), for: PushApproval.row(publicID)), transaction.origin.address,
            transaction.origin.userAgent, application, byCode, transaction.now, expiresAt)
        return StartedPushApproval(publicID: publicID, user: user, expiresAt: expiresAt)
    }
}

/// Both do as much for an address that nobody has: they read a row that is always there, with what was found or without.
extension Connection {
    /// The canonical user of the live user with this login_email, or `nobody`.
    fileprivate func addressee(_ address: FoldedAddress) throws -> User.ID {
        try first(
            """
            SELECT COALESCE(l.primary_user_id, u.id, 0)
            FROM (SELECT 1) always LEFT JOIN users u ON u.live_login_email = ?
            LEFT JOIN identity_links l ON l.linked_user_id = COALESCE(u.id, 0)
            """, address
        ) { row in try row.read() } ?? .nobody
    }
}

extension AccountsTransaction {
    fileprivate func lockAddressee(_ user: User.ID) throws -> (id: User.ID, isDeleted: Bool) {
        let found = try connection.first(
            """
            SELECT COALESCE(u.id, 0), u.deleted_at IS NOT NULL
            FROM (SELECT 1) always LEFT JOIN users u ON u.id = ? FOR UPDATE
            """, user
        ) { row in (id: try row.read(User.ID.self), isDeleted: try row.read(Bool.self)) }
        guard let found else { return (.nobody, false) }
        try connection.writeOnCluster("UPDATE users SET version = version + 1 WHERE id IN ", [found.id])
        return found
    }
}

extension User.ID {
    /// Who has an address that nobody has. Ids of users begin with 1.
    package static let nobody = Self(rawValue: 0)
}
