import Database
package import IdentityTokens
import MariaDB
import Time

/// The result of linking an identity (accounts §1.8).
package enum LinkOutcome: Sendable {
    case linked(User, [Identity])
    /// Another live account has the identity. If the caller is anonymous and that account is identified, the caller
    /// gets a ticket for the swap, so that the user need not sign in twice.
    case ownedByAnotherAccount(swapTicket: String?)
}

/// How long a swap ticket is valid.
package let swapTicketLifetime = Duration.seconds(600)

extension Accounts {
    /// Links the token's identity to the caller. An anonymous caller becomes an identified user in place.
    ///
    /// `ownedByAnotherAccount` is returned and not thrown, because the transaction that issued the ticket must commit.
    package func linkIdentity(
        _ token: IdentityToken, fullName: PersonName?, to caller: Caller, in transaction: AccountsTransaction
    ) throws -> LinkOutcome {
        var caller = caller
        let holder: IdentityHolder?
        let owner: User?
        (caller.user, holder, owner) = try transaction.lockCaller(caller, andHolderOf: token)
        return try link(token, fullName, to: caller, holder, owner, in: transaction)
    }

    /// The same for a PAK whose caller is read here.
    ///
    /// - Throws: also `UnconfirmedCaller`, and what the PAK's check throws.
    package func linkIdentity(
        _ token: IdentityToken, fullName: PersonName?, to pak: PresentedPAK, in transaction: AccountsTransaction
    ) throws -> (caller: Caller, outcome: LinkOutcome) {
        var (caller, holder, owner) = try transaction.lockCaller(pak, andHolderOf: token)
        if caller.user.isDueForActivity(at: transaction.now) { try transaction.touch(&caller.user) }
        return (caller, try link(token, fullName, to: caller, holder, owner, in: transaction))
    }

    /// - Parameters:
    ///   - caller: locked, with the account as it is now.
    ///   - owner: the canonical user of the holder, locked.
    private func link(
        _ token: IdentityToken, _ fullName: PersonName?, to caller: Caller, _ holder: IdentityHolder?, _ owner: User?,
        in transaction: AccountsTransaction
    ) throws -> LinkOutcome {
        let (user, connection) = (caller.user, transaction.connection)
        if let owner, owner.id != user.id {
            try owner.checkNotDeleted()
            try transaction.renewAppleConsent(by: token, of: holder)
            guard user.anonymous, !owner.anonymous else { return .ownedByAnotherAccount(swapTicket: nil) }
            return .ownedByAnotherAccount(swapTicket: try transaction.issueSwapTicket(to: user.id, for: token).text)
        }
        var linked = user
        if holder == nil {
            let identities = try connection.identities(of: user.id)
            if identities.contains(where: { $0.provider == token.provider.rawValue }) {
                throw Failure.providerAlreadyConnected
            }
            linked = try transaction.filled(user, from: token, fullName)
            try transaction.insertIdentity(token, for: user.id)
            if user.anonymous {
                linked = try transaction.promoted(linked, keeping: caller)
            } else if linked != user {
                try transaction.updateUser(linked)
            }
            try transaction.noteLogin(
                user.anonymous ? .promoted : .linked, of: user.id, provider: token.provider, on: nil,
                device: caller.device)
        }
        try transaction.renewAppleConsent(by: token, of: holder)
        return .linked(linked, try connection.identities(of: user.id))
    }
}

extension AccountsTransaction {
    fileprivate func issueSwapTicket(to user: User.ID, for token: IdentityToken) throws -> Secret {
        let ticket = Secret(.swapTicket)
        try connection.executeLater(
            """
            INSERT INTO swap_tickets (digest, user_id, provider, sub, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
            """, ticket.digest, user, token.provider.rawValue, token.subject, now, now + swapTicketLifetime)
        return ticket
    }
}
