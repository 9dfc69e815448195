package import IdentityTokens
package import MariaDB

/// Whose an identity is, for somebody who wants to link it to their account.
package enum IdentityOwner: Sendable {
    case nobody
    case caller
    case another
    /// A soft-deleted user, for whom it stays reserved.
    case deleted
}

extension Connection {
    /// Found by (provider, sub) alone, and read without a lock: `linkIdentity` decides.
    package func owner(of token: IdentityToken, for caller: Caller) throws -> IdentityOwner {
        guard let holder = try holder(of: token.provider, token.subject) else { return .nobody }
        if holder.canonical == caller.id { return .caller }
        return try users(holder.canonical, nil)[holder.canonical]?.deletedAt == nil ? .another : .deleted
    }
}
