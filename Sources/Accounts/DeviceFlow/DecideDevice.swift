import Time

/// The result of a user's decision on the page.
package enum DeviceDecisionOnWeb: Sendable {
    /// The session has ended, so the user has to sign in.
    case signedOut
    case unknownCode
    case decided(isAllowed: Bool)
}

extension Accounts {
    /// Finds the pending request for a typed user code. Each try is counted, so a refusal is returned and not thrown:
    /// the transaction must commit.
    ///
    /// - Parameter typist: the web session or PAK that the tries are counted for.
    /// - Returns: `unknownUserCode`, also if the request has expired or is decided; `rateLimited` after ten tries.
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

    /// Decides in one step, for the server's own app.
    package func decideDevice(
        _ decision: DeviceDecision, userCode: String, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> Result<Void, Failure> {
        let (user, _) = try transaction.lockCaller(caller)
        switch try findDeviceRequest(userCode: userCode, by: caller.credential.name, in: transaction) {
        case .failure(let failure): return .failure(failure)
        case .success(let request):
            try decide(decision, on: request, by: user, authenticatedAt: caller.authenticatedAt, in: transaction)
            return .success(())
        }
    }

    /// Decides for a user on a page that names the device.
    ///
    /// - Parameter code: from a form that only this page can send, so tries are not counted.
    /// - Throws: `unknownUserCode` if the request was decided in the meantime.
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

    /// Approves or denies a request. Only the first decision counts.
    ///
    /// - Parameters:
    ///   - user: locked and live.
    ///   - authenticatedAt: when the user proved who they are; becomes `auth_time`.
    /// - Throws: `anonymousNotAllowed`: the request stays pending for another user; `unknownUserCode` if the request
    ///   was decided in the meantime.
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
        guard
            try transaction.decide(
                request, grant: grant, authenticatedAt: authenticatedAt, fromAnonymous: user.anonymous)
        else { throw Failure.unknownUserCode }
    }
}
