import ErrorCodes

/// Where a browser goes next in an authorize request.
package enum AuthorizationStep: Sendable {
    /// Back to the application, with a code or an error.
    case back(String)
    case signIn(PendingRequest)
    case consent(PendingRequest)
}

extension Accounts {
    /// Answers a checked request if the user need not be asked. Otherwise stores it as a pending request (accounts
    /// §2.2).
    ///
    /// - Parameter browser: the only browser that can continue the request.
    package func begin(
        _ request: AuthorizationRequest, of application: Application, by session: WebSession?, in browser: Browser,
        _ transaction: AccountsTransaction
    ) throws -> AuthorizationStep {
        let counting = try counting(session, for: request, of: application, transaction)
        let answer =
            request.prompts.contains(.selectAccount)
            ? .signIn : try self.answer(request, of: application, by: counting, isApproved: false, transaction)
        func wait(staleSession: WebSession.ID? = nil) throws -> PendingRequest {
            try transaction.store(
                .authorization(request), of: application.id, in: browser, staleSession: staleSession)
        }
        switch answer {
        case .back(let location): return .back(location)
        case .signIn where request.prompts.contains(.none):
            return .back(request.redirect(OAuthError(.loginRequired, "the user is not signed in")))
        case .consent where request.prompts.contains(.none):
            return .back(request.redirect(OAuthError(.consentRequired, "the user must be asked for consent")))
        case .signIn: return .signIn(try wait(staleSession: counting == nil ? session?.id : nil))
        case .consent: return .consent(try wait())
        }
    }

    /// The session, if its sign-in is recent enough for the request, and of the user whom the request means.
    private func counting(
        _ session: WebSession?, for request: AuthorizationRequest, of application: Application,
        _ transaction: AccountsTransaction
    ) throws -> WebSession? {
        guard let session, request.takes(signInAt: session.authenticatedAt, now: transaction.now),
            try isHinted(session.user.id, by: request, of: application, transaction.connection)
        else { return nil }
        return session
    }

    /// Continues a pending request. If another user has signed in than the request means, the relying party is told: to
    /// ask again could go on for ever.
    ///
    /// - Parameter isApproved: whether the user was asked and allowed it.
    package func proceed(
        with pending: PendingRequest, _ request: AuthorizationRequest, of application: Application,
        by session: WebSession?, isApproved: Bool, _ transaction: AccountsTransaction
    ) throws -> AuthorizationStep {
        let session = pending.counting(session)
        if let session, try !isHinted(session.user.id, by: request, of: application, transaction.connection) {
            return .back(request.redirect(.otherUser))
        }
        return switch try answer(request, of: application, by: session, isApproved: isApproved, transaction) {
        case .back(let location): .back(location)
        case .signIn: .signIn(pending)
        case .consent: .consent(pending)
        }
    }

    private enum Answer {
        case back(String)
        case signIn
        case consent
    }

    private func answer(
        _ request: AuthorizationRequest, of application: Application, by session: WebSession?, isApproved: Bool,
        _ transaction: AccountsTransaction
    ) throws -> Answer {
        guard let session, let user = try transaction.lockUser(of: session) else { return .signIn }
        let authorization = try authorize(
            request, for: application, by: user, authenticatedAt: session.authenticatedAt,
            session: session.handle, isApproved: isApproved, in: transaction)
        switch authorization {
        case .code(let code): return .back(request.redirect(code: code))
        case .consentRequired: return .consent
        case .anonymousNotAllowed:
            return .back(request.redirect(.anonymousNotAllowed))
        }
    }
}
