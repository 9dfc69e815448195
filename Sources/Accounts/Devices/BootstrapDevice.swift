import Database

/// What a device sends at its start (accounts §1.2, §1.3).
package struct DeviceBootstrap: Sendable {
    package var uuid: DeviceUUID
    package var platform: DevicePlatform
    package var secret: String?
    package var name: String?

    package init(uuid: DeviceUUID, platform: DevicePlatform, secret: String?, name: String?) {
        self.uuid = uuid
        self.platform = platform
        self.secret = secret
        self.name = name
    }
}

extension Accounts {
    /// Creates an anonymous account for an unknown device. A known device that presents its secret gets a new PAK for
    /// its current owner.
    ///
    /// - Returns: `invalidDeviceSecret` if an unknown device presents a secret, or a known device does not present its
    ///   own. It is returned and not thrown, because its row in the owner's login history must be committed.
    package func bootstrap(
        _ bootstrap: DeviceBootstrap, in transaction: AccountsTransaction
    ) throws -> Result<SignedIn, Failure> {
        // Without a secret it is hardly ever known. If it is, the unique key of devices ends this run, and the next one looks. The
        // failed INSERT leaves a shared lock, which nothing but ROLLBACK follows.
        if bootstrap.secret == nil, transaction.isFirstRun {
            return .success(try createAnonymousUser(bootstrap, in: transaction))
        }
        if let (device, owner, paks) = try transaction.lockDeviceAndOwner(bootstrap.uuid) {
            guard owner.deletedAt == nil, device.isOpened(by: bootstrap.secret) else {
                try transaction.noteLogin(.refused, of: owner.id, on: bootstrap.platform)
                return .failure(.invalidDeviceSecret)
            }
            return .success(try reopen(device, of: owner, with: paks, bootstrap, in: transaction))
        }
        if bootstrap.secret != nil {
            if try transaction.device(bootstrap.uuid) != nil { throw TransactionMustRestart() }
            return .failure(.invalidDeviceSecret)
        }
        return .success(try createAnonymousUser(bootstrap, in: transaction))
    }

    private func label(_ bootstrap: DeviceBootstrap) -> String { bootstrap.name ?? bootstrap.platform.rawValue }

    private func reopen(
        _ device: Device, of owner: User, with paks: [PAK.ID]?, _ bootstrap: DeviceBootstrap,
        in transaction: AccountsTransaction
    ) throws -> SignedIn {
        var (user, device) = (owner, device)
        if user.isDueForActivity(at: transaction.now) { try transaction.touch(&user) }
        let pak = try transaction.issuePAK(
            to: user.id, onActive: &device, label: label(bootstrap), actor: .user(user.id), besides: paks)
        try transaction.noteLogin(.bootstrap, of: user.id, on: bootstrap.platform)
        return SignedIn(user: user, accessToken: pak.secret.text, scopes: pak.scopes, device: device)
    }

    private func createAnonymousUser(
        _ bootstrap: DeviceBootstrap, in transaction: AccountsTransaction
    ) throws -> SignedIn {
        let (user, device, secret) = try transaction.createAnonymousUser(on: bootstrap.uuid, bootstrap.platform)
        let pak = try transaction.issuePAK(
            to: user.id, device: device.id, label: label(bootstrap), actor: .user(user.id), besides: [])
        try transaction.noteLogin(.bootstrap, of: user.id, on: bootstrap.platform)
        return SignedIn(
            user: user, accessToken: pak.secret.text, scopes: pak.scopes, device: device, deviceSecret: secret.text)
    }
}
