import Database
package import IdentityTokens
import OpenSSL

/// A sign-in with a provider's identity token, which is already verified (accounts §1.6).
package struct SignInRequest: Sendable {
    package var token: IdentityToken
    package var fullName: PersonName?
    /// The device that signs in; nil if the request names none.
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
    /// Signs in. Finds the account by the identity, otherwise by a verified e-mail address, otherwise creates one.
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

    /// Makes the user the owner of the named device. For the user's own device the identity token is enough; for
    /// another user's device its secret is needed.
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
            // The PAKs stay valid without a device, so that the account they open can still be linked or swapped.
            try transaction.detachPAKs(of: owner.id, from: device.id)
        } else {
            try transaction.revokePAKs(
                of: owner.id, on: device.id, reason: "device_reassigned", actor: .user(user.id))
        }
        return try transaction.assign(device, to: user.id)
    }
}
