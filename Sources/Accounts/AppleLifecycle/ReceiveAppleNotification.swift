import Database
package import IdentityTokens
import JSON
import MariaDB
import OpenSSL
import Time

extension Accounts {
    /// Does what a verified notification asks for, once. Nothing happens for people whom nobody here is.
    package func receive(_ notification: AppleNotification, in transaction: AccountsTransaction) throws {
        let connection = transaction.connection
        guard try transaction.claim(notification) else { return }
        let holder = try connection.holder(of: .apple, notification.subject)
        guard let holder, let kind = notification.kind else { return }
        let absorbed = try connection.usersAbsorbed(by: holder.canonical)
        let users = try transaction.lockUsers([holder.canonical] + absorbed)
        // Read again under the locks: the identity may have another holder, or none.
        guard try connection.holder(of: .apple, notification.subject) == holder,
            try connection.usersAbsorbed(by: holder.canonical) == absorbed, let user = users[holder.canonical]
        else { throw TransactionMustRestart() }
        let isLate = try connection.isLate(notification, kind)
        transaction.audit(
            .appleNotified, user: user.id, actor: .provider(.apple),
            isLate ? ["late": true, "type": .string(kind.rawValue)] : ["type": .string(kind.rawValue)])
        if isLate { return }
        switch kind {
        case .consentRevoked:
            // Apple has ended it.
            try transaction.setAppleGrant(nil, of: notification.subject)
            try transaction.revokePAKs(
                of: user.id, except: nil, reason: kind.rawValue, actor: .provider(.apple))
            try transaction.endWebSessions(of: user.id)
            try transaction.denyPushApprovals(of: user.id, by: .provider(.apple), because: kind.rawValue)
        case .accountDelete, .accountDeleted:
            try removeIdentity(notification.subject, of: user, with: absorbed.compactMap { users[$0] }, transaction)
        case .emailDisabled, .emailEnabled:
            try connection.execute(
                """
                UPDATE identities SET forwards_email = ?, forwarding_changed_at = ?
                WHERE provider = 'apple' AND sub = ?
                """, kind == .emailEnabled, notification.occurredAt, notification.subject)
        }
    }

    /// - Parameter absorbed: by the user; all are locked.
    private func removeIdentity(
        _ subject: String, of user: User, with absorbed: [User], _ transaction: AccountsTransaction
    ) throws {
        let connection = transaction.connection
        let identities = try connection.identities(of: user.id)
        let id = try connection.first(
            "SELECT id FROM identities WHERE provider = 'apple' AND sub = ?", subject
        ) { row in try row.read(Identity.ID.self) }
        let (removed, remaining) = (identities.filter { $0.id == id }, identities.filter { $0.id != id })
        try transaction.forgetAddresses(of: absorbed + [user], vouchedForBy: removed, remaining)
        try connection.execute("DELETE FROM identities WHERE provider = 'apple' AND sub = ?", subject)
        transaction.audit(
            .identityUnlinked, user: user.id, actor: .provider(.apple), ["provider": .string("apple")])
        if remaining.isEmpty, user.deletedAt == nil {
            _ = try transaction.deleteSoftly(user.id, actor: .provider(.apple))
        }
    }
}

extension Connection {
    /// Whether something newer is known: of consent, an identity token of a later second; of mail, another notification or the
    /// link. Both times are Apple's. Identities of earlier releases have only the time of their link.
    fileprivate func isLate(_ notification: AppleNotification, _ kind: AppleNotification.Kind) throws -> Bool {
        let newest = try first(
            """
            SELECT COALESCE(consented_at, linked_at), COALESCE(forwarding_changed_at, linked_at)
            FROM identities WHERE provider = 'apple' AND sub = ?
            """, notification.subject
        ) { row in (consent: try row.read(Timestamp.self), forwarding: try row.read(Timestamp.self)) }
        guard let newest else { return false }
        let known =
            switch kind {
            case .consentRevoked, .accountDelete, .accountDeleted: newest.consent
            case .emailDisabled, .emailEnabled: newest.forwarding
            }
        return notification.occurredAt.seconds < known.seconds
    }
}

extension AccountsTransaction {
    /// - Returns: false if it was received before. Of two at once, on whatever instance, one waits here. It is remembered
    ///   longer than it is accepted, because the clocks of two instances may differ.
    fileprivate func claim(_ notification: AppleNotification) throws -> Bool {
        try connection.execute(
            """
            INSERT INTO apple_notifications (digest, expires_at) VALUES (?, ?)
            ON DUPLICATE KEY UPDATE expires_at = expires_at
            """, sha256(notification.id.utf8), notification.acceptedUntil + .clockSlack
        ).affectedRows > 0
    }
}
