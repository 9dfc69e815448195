import Time

/// What came of a person's decision on the page.
package enum DeviceDecisionOnWeb: Sendable {
    /// The session has ended: somebody has to sign in.
    case signedOut
    case unknownCode
    case decided(isAllowed: Bool)
}

extension Accounts {
    /// The request that waits under what a person typed. Every try counts, so a refusal is a result: it is committed.
    ///
    /// - Parameter typist: who tries: a web session or a PAK.
    /// - Returns: `unknownUserCode` also for one that expired or was decided; `rateLimited` after ten tries.
    package func findDeviceRequest(
        userCode: String, by typist: String, in transaction: AccountsTransaction
    ) throws -> Result<DeviceRequest, Failure> {
        if let wait = try transaction.count(.userCodeTries, for: typist) {
            return .failure(.rateLimited(retryAfter: wait))
        }
        guard let code = UserCode(typed: userCode),
            let request = try transaction.connection.deviceRequest(code, at: transaction.now)
        else { return .failure(.unknownUserCode) }
        return .success(request)
    }

    /// The server's own app decides in one step.
    package func decideDevice(
        _ decision: DeviceDecision, userCode: String, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> Result<Void, Failure> {
        let (user, _) = try transaction.lockCaller(caller)
        switch try findDeviceRequest(userCode: userCode, by: "pak \(caller.pak.rawValue)", in: transaction) {
        case .failure(let failure): return .failure(failure)
        case .success(let request):
            try decide(decision, on: request, by: user, authenticatedAt: caller.authenticatedAt, in: transaction)
            return .success(())
        }
    }

    /// A person decides on a page that named the device.
    ///
    /// - Parameter code: from a form that only that page sends: nobody guesses with it.
    /// - Throws: `unknownUserCode` when it was decided meanwhile.
    package func decideDevice(
        _ decision: DeviceDecision, _ code: UserCode, by session: WebSession, in transaction: AccountsTransaction
    ) throws -> DeviceDecisionOnWeb {
        guard let user = try transaction.lockUser(of: session) else { return .signedOut }
        guard let request = try transaction.connection.deviceRequest(code, at: transaction.now) else {
            return .unknownCode
        }
        do {
            try decide(
                decision, on: request, by: user, authenticatedAt: session.authenticatedAt, in: transaction)
        } catch Failure.anonymousNotAllowed {
            return .decided(isAllowed: false)
        }
        return .decided(isAllowed: decision == .approve)
    }

    /// Lets the device have what it asked for, or not. One decision counts.
    ///
    /// - Parameters:
    ///   - user: locked, live.
    ///   - authenticatedAt: when the user proved who they are; becomes `auth_time`.
    /// - Throws: `anonymousNotAllowed`, which leaves the request waiting for somebody else; `unknownUserCode` when it was
    ///   decided meanwhile.
    private func decide(
        _ decision: DeviceDecision, on request: DeviceRequest, by user: User, authenticatedAt: Timestamp,
        in transaction: AccountsTransaction
    ) throws {
        let application = request.application
        var grant: Grant.ID?
        if decision == .approve {
            if user.anonymous && !application.allowAnonymousGrants { throw Failure.anonymousNotAllowed }
            grant = try transaction.ensureGrant(
                transaction.lockGrant(of: user.id, for: application.id), request.scopes, of: user, for: application)
        }
        guard try transaction.decide(request, grant: grant, authenticatedAt: authenticatedAt) else {
            throw Failure.unknownUserCode
        }
    }
}
