import Database
package import IdentityTokens
import OpenSSL
import Time

/// A sign-in with a provider's identity token, verified already (accounts §1.6).
package struct SignInRequest: Sendable {
    package var token: IdentityToken
    package var fullName: PersonName?
    /// UUID and platform come together or not at all.
    package var device: (uuid: DeviceUUID, platform: DevicePlatform)?
    package var deviceSecret: String?

    package init(
        token: IdentityToken, fullName: PersonName?, device: (uuid: DeviceUUID, platform: DevicePlatform)?,
        deviceSecret: String?
    ) {
        self.token = token
        self.fullName = fullName
        self.device = device
        self.deviceSecret = deviceSecret
    }
}

extension Accounts {
    /// Signs in: finds the account by identity, else by an e-mail the provider answers for, else makes one.
    package func startSession(_ request: SignInRequest, in transaction: AccountsTransaction) throws -> SignedIn {
        let owner = try request.device.flatMap { try transaction.deviceOwner($0.uuid) }
        let (user, lockedOwner) = try signIn(request.token, request.fullName, locking: owner, in: transaction)
        guard try request.device.flatMap({ try transaction.deviceOwner($0.uuid) }) == owner else {
            throw TransactionMustRestart()
        }
        guard let named = request.device else {
            let pak = try transaction.issuePAK(to: user.id, device: nil, label: nil, actor: .user(user.id))
            return SignedIn(user: user, accessToken: pak.secret.text, scopes: pak.scopes)
        }
        let (device, secret) = try claim(
            named.uuid, named.platform, presenting: request.deviceSecret, for: user,
            from: lockedOwner, transaction)
        let pak = try transaction.issuePAK(
            to: user.id, device: device.id, label: named.platform.rawValue, actor: .user(user.id))
        return SignedIn(
            user: user, accessToken: pak.secret.text, scopes: pak.scopes, device: device, deviceSecret: secret.text)
    }

    /// Makes the named device the user's: the identity token proves enough for the user's own, the device's secret is
    /// asked for another's.
    private func claim(
        _ uuid: DeviceUUID, _ platform: DevicePlatform, presenting presented: String?, for user: User,
        from owner: User?,
        _ transaction: AccountsTransaction
    ) throws -> (Device, Secret) {
        guard let owner else { return try transaction.createDevice(uuid, platform, of: user.id) }
        guard let device = try transaction.lockDevice(uuid), device.owner == owner.id else {
            throw TransactionMustRestart()
        }
        if owner.id == user.id { return try transaction.assign(device, to: user.id) }
        guard let presented, let digest = device.secretDigest,
            constantTimeEqual(Secret(presented: presented).digest, digest)
        else { throw Failure.deviceClaimedByOtherUser }
        if owner.anonymous {
            // They stay valid without a device, so that the account they open can still be linked or swapped.
            try transaction.detachPAKs(of: owner.id, from: device.id)
        } else {
            try transaction.revokePAKs(
                of: owner.id, on: device.id, reason: "device_reassigned", actor: .user(user.id))
        }
        return try transaction.assign(device, to: user.id)
    }
}
