import Database
package import IdentityTokens
import MariaDB
import Time

/// What came of an attempt to link an identity (accounts §1.8).
package enum LinkOutcome: Sendable {
    case linked(User, [Identity])
    /// Another live account has it. An anonymous caller gets a ticket for the swap into an identified one, so that the
    /// person need not sign in a second time.
    case ownedByAnotherAccount(swapTicket: String?)
}

/// How long a swap ticket is good for.
package let swapTicketLifetime = Duration.seconds(600)

extension Accounts {
    /// Links the token's identity to the caller; an anonymous caller becomes an identified user in place.
    ///
    /// `ownedByAnotherAccount` is a result, not an error: the ticket it made is committed.
    package func linkIdentity(
        _ token: IdentityToken, fullName: PersonName?, to caller: Caller, in transaction: AccountsTransaction
    ) throws -> LinkOutcome {
        let connection = transaction.connection
        let holder = try connection.holder(of: token.provider, token.subject)
        let (user, owner) = try transaction.lockCaller(caller, and: holder?.canonical)
        guard try connection.holder(of: token.provider, token.subject) == holder else { throw TransactionMustRestart() }

        if let holder, holder.canonical != user.id {
            guard let owner else { throw TransactionMustRestart() }
            try owner.checkNotDeleted()
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
            if user.anonymous {
                linked = try transaction.promoted(linked, keeping: caller)
            } else if linked != user {
                try transaction.updateUser(linked)
            }
            try transaction.insertIdentity(token, for: user.id)
        }
        return .linked(linked, try connection.identities(of: user.id))
    }
}

extension AccountsTransaction {
    fileprivate func issueSwapTicket(to user: User.ID, for token: IdentityToken) throws -> Secret {
        let ticket = Secret(.swapTicket)
        try connection.execute(
            """
            INSERT INTO swap_tickets (digest, user_id, provider, sub, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
            """, ticket.digest, user, token.provider.rawValue, token.subject, now, now + swapTicketLifetime)
        return ticket
    }
}
