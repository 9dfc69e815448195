import Database
import ErrorCodes
import Time

extension Accounts {
    /// Answers a poll of a device (RFC 8628 §3.4, §3.5). Polls with the same code run one after the other, so that each
    /// is counted.
    package func poll(
        _ deviceCode: String, by application: Application, in transaction: AccountsTransaction
    ) throws -> TokenOutcome {
        let digest = Secret(presented: deviceCode).digest
        guard let found = try transaction.connection.deviceCode(digest), found.application == application.id else {
            return .refused(.unknownDeviceCode)
        }
        // The lock order: grants before codes.
        let isGranted = try found.grant.map { try transaction.lockForIssue($0) } ?? false
        guard let code = try transaction.lockDeviceCode(digest), code.status != .used else {
            return .refused(.unknownDeviceCode)
        }
        guard transaction.now < code.expiresAt else {
            return .refused(OAuthError(.expiredToken, "the device code has expired; start again"))
        }
        switch code.status {
        case .pending: return .refused(try notePoll(of: code, transaction))
        case .approved:
            guard let grant = code.grant, found.grant == grant else { throw TransactionMustRestart() }
            guard isGranted else { return .refused(.deviceDenied) }
            return try issue(
                to: application, grant, code.scopes, authenticatedAt: code.authenticatedAt ?? transaction.now,
                fromAnonymous: code.fromAnonymous, nonce: nil, in: transaction
            ) { _ in try transaction.useDeviceCode(code) }
        case .denied, .used: return .refused(.deviceDenied)
        }
    }

    private func notePoll(of code: StoredDeviceCode, _ transaction: AccountsTransaction) throws -> OAuthError {
        let isEarly = code.lastPolledAt.map { transaction.now < $0 + code.interval } ?? false
        let interval = code.interval + (isEarly ? DeviceAuthorization.interval : .zero)
        try transaction.notePoll(of: code, interval: interval)
        return isEarly
            ? OAuthError(.slowDown, "wait \(interval.components.seconds) seconds between polls")
            : OAuthError(.authorizationPending, "the user has not decided yet")
    }
}

extension OAuthError {
    fileprivate static let unknownDeviceCode = OAuthError(.invalidGrant, "unknown or used device code")
    fileprivate static let deviceDenied = OAuthError(.accessDenied, "the request was denied")
}
