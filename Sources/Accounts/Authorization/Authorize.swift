package import MariaDB
package import Time

/// Whether a user has to be asked about an authorize request, and what the user has already allowed.
package struct ConsentStanding: Sendable {
    /// What the live grant already allows; empty if there is none.
    package var granted: Scopes
    /// Whether the user has to be asked.
    package var isRequired: Bool
    /// Whether the user is anonymous and the application does not accept anonymous users.
    package var isRefusedToAnonymous: Bool

    init(_ grant: Grant?, _ scopes: Scopes, isAsked: Bool, _ application: Application, _ user: User) {
        granted = grant.flatMap { $0.isLive ? $0.scopes : nil } ?? Scopes("")
        let isRemembered = grant?.isLive == true && scopes.isCovered(by: granted) && !isAsked
        isRequired = !isRemembered && !application.firstParty
        isRefusedToAnonymous = user.anonymous && !application.allowAnonymousGrants
    }
}

/// The result of an authorize request.
package enum Authorization: Sendable {
    case code(String)
    case consentRequired
    case anonymousNotAllowed
}

/// The code that answers an authorize request (accounts §0.3).
package enum AuthorizationCode {
    package static let lifetime = Duration.seconds(300)
}

extension Accounts {
    /// Reads the user's consent without a lock.
    package func consentStanding(
        of user: User, for request: AuthorizationRequest, _ application: Application, _ connection: Connection
    ) throws -> ConsentStanding {
        ConsentStanding(
            try connection.grant(of: user.id, for: application.id), request.scopes,
            isAsked: request.prompts.contains(.consent), application, user)
    }

    /// Issues a code if the user allows the request now or has allowed it before (accounts §2.2).
    ///
    /// - Parameters:
    ///   - user: locked and live.
    ///   - authenticatedAt: when the user proved who they are; becomes `auth_time`.
    ///   - session: the web session's that they do it in, locked.
    ///   - isApproved: whether the user was asked and allowed it.
    package func authorize(
        _ request: AuthorizationRequest, for application: Application, by user: User, authenticatedAt: Timestamp,
        session: SessionHandle? = nil, isApproved: Bool, in transaction: AccountsTransaction
    ) throws -> Authorization {
        let grant = try transaction.lockGrant(of: user.id, for: application.id)
        let standing = ConsentStanding(
            grant, request.scopes, isAsked: request.prompts.contains(.consent), application, user)
        if standing.isRefusedToAnonymous { return .anonymousNotAllowed }
        if standing.isRequired && !isApproved { return .consentRequired }

        let code = Secret(.plain)
        try transaction.insertCode(
            code, try transaction.ensureGrant(grant, request.scopes, of: user, for: application), request,
            authenticatedAt: authenticatedAt, fromAnonymous: user.anonymous, session: session)
        return .code(code.text)
    }
}

extension Accounts {
    /// Does the same for the holder of a PAK. The time of the sign-in is when the PAK was issued.
    package func authorize(
        _ request: AuthorizationRequest, for application: Application, by caller: Caller, isApproved: Bool,
        in transaction: AccountsTransaction
    ) throws -> Authorization {
        try authorize(
            request, for: application, by: try transaction.lockCaller(caller).caller,
            authenticatedAt: caller.authenticatedAt, isApproved: isApproved, in: transaction)
    }
}
