import Database

/// A request of a relying party's app for a PAK, made with its access token (accounts §1.4).
package struct PAKExchange: Sendable {
    package var uuid: DeviceUUID
    package var platform: DevicePlatform
    package var secret: String?

    package init(uuid: DeviceUUID, platform: DevicePlatform, secret: String?) {
        self.uuid = uuid
        self.platform = platform
        self.secret = secret
    }
}

/// The PAK that was issued, with its device.
package struct ExchangedPAK: Sendable {
    package let user: User
    package let accessToken: String
    package let scopes: [Scope]
    package let device: Device
    /// Present only if newly made; shown once.
    package let deviceSecret: String?
}

extension Accounts {
    /// Issues a PAK on one of the user's devices, for the user of an access token.
    ///
    /// The PAK and a new device are bound to the token's application, unless the token opens the account. The reason:
    /// any relying party that the user signs in to can make this request. A device that was bound to the application is
    /// bound no more once a token of it opens the account. Requests are counted, also refused ones, so a refusal is
    /// returned and not thrown: the transaction must commit.
    ///
    /// - Throws: `invalidToken` if the token was revoked in the meantime.
    package func exchange(
        _ exchange: PAKExchange, for token: AccessToken, in transaction: AccountsTransaction
    ) throws -> Result<ExchangedPAK, Failure> {
        let (token, user) = try lockUser(behind: token, transaction)
        let result = try issuePAK(for: exchange, to: user, token, transaction)
        let event = if case .success = result { LoginEvent.exchange } else { LoginEvent.refused }
        try transaction.noteLogin(event, of: user.id, on: exchange.platform)
        return result
    }

    private func issuePAK(
        for exchange: PAKExchange, to user: User, _ token: AccessToken, _ transaction: AccountsTransaction
    ) throws -> Result<ExchangedPAK, Failure> {
        let limited = "\(user.id.rawValue) \(token.application.rawValue)"
        if let wait = try transaction.count(.pakExchange, for: limited) {
            return .failure(.rateLimited(retryAfter: wait))
        }
        let application = token.opensAccount ? nil : token.application
        var device: Device
        var secret: Secret?
        if let found = try transaction.lockDevice(exchange.uuid) {
            guard found.owner == user.id else { return .failure(.deviceClaimedByOtherUser) }
            guard found.isOpened(by: exchange.secret) else { return .failure(.invalidDeviceSecret) }
            device = found
            if token.opensAccount, device.application == token.application { try transaction.unbind(&device) }
        } else {
            (device, secret) = try transaction.createDevice(
                exchange.uuid, exchange.platform, of: user.id, application: application)
        }
        let pak = try transaction.issuePAK(
            to: user.id, onActive: &device, label: exchange.platform.rawValue, actor: .user(user.id),
            besides: secret == nil ? nil : [])
        return .success(
            ExchangedPAK(
                user: user, accessToken: pak.secret.text, scopes: pak.scopes, device: device,
                deviceSecret: secret?.text))
    }

    /// Locks the token's user, and checks the token again under the lock, because a swap or a merge may have committed
    /// first.
    private func lockUser(
        behind token: AccessToken, _ transaction: AccountsTransaction
    ) throws -> (AccessToken, User) {
        func current() throws -> AccessToken {
            guard let token = try check(token.signed, transaction.connection) else { throw Failure.invalidToken }
            return token
        }
        let expected = try current().subject.canonical
        let users = try transaction.lockUsers(expected)
        let token = try current()
        guard token.subject.canonical == expected, let user = users[expected] else { throw TransactionMustRestart() }
        return (token, user)
    }
}
