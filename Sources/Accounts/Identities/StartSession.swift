import Database
package import IdentityTokens

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
    ///
    /// - Returns: `accountDeleted`, `emailLinkedToOtherIdentity` or `deviceClaimedByOtherUser` as a result and not as an
    ///   error, because its row in the login history must be committed. Nothing else is written then.
    package func startSession(
        _ request: SignInRequest, in transaction: AccountsTransaction
    ) throws -> Result<SignedIn, Failure> {
        let owner = try request.device.flatMap { try transaction.device($0.uuid)?.owner }
        let person = try recognize(request.token, locking: owner, in: transaction)
        let device = try request.device.flatMap { try transaction.device($0.uuid) }
        guard device?.owner == owner else { throw TransactionMustRestart() }
        let (provider, platform) = (request.token.provider, request.device?.platform)
        let isClaimable = device.map { $0.owner == person.user?.id || $0.isOpened(by: request.deviceSecret) } ?? true
        if let failure = person.refusal ?? (isClaimable ? nil : .deviceClaimedByOtherUser) {
            if let user = person.user {
                try transaction.noteLogin(.refused, of: user.id, provider: provider, on: platform)
            }
            return .failure(failure)
        }
        let user = try signIn(person, request.token, request.fullName, in: transaction)
        let signedIn = try open(user, on: request.device, device, of: person.other, in: transaction)
        try transaction.noteLogin(
            person.isPromoted ? .promoted : .session, of: user.id, provider: provider, on: platform)
        return .success(signedIn)
    }

    /// - Parameters:
    ///   - device: as it is registered; nil if it is not.
    ///   - owner: the device's.
    private func open(
        _ user: User, on named: (uuid: DeviceUUID, platform: DevicePlatform)?, _ device: Device?, of owner: User?,
        in transaction: AccountsTransaction
    ) throws -> SignedIn {
        guard let named else {
            let pak = try transaction.issuePAK(to: user.id, device: nil, label: nil, actor: .user(user.id))
            return SignedIn(user: user, accessToken: pak.secret.text, scopes: pak.scopes)
        }
        let (claimed, secret) =
            try device.map { try claim($0, for: user, from: owner, transaction) }
            ?? transaction.createDevice(named.uuid, named.platform, of: user.id)
        let pak = try transaction.issuePAK(
            to: user.id, device: claimed.id, label: named.platform.rawValue, actor: .user(user.id))
        return SignedIn(
            user: user, accessToken: pak.secret.text, scopes: pak.scopes, device: claimed, deviceSecret: secret.text)
    }

    /// Makes the user the owner of the device. For the user's own device the identity token is enough; for another user's
    /// device its secret was presented.
    private func claim(
        _ device: Device, for user: User, from owner: User?, _ transaction: AccountsTransaction
    ) throws -> (Device, Secret) {
        guard let owner else { throw TransactionMustRestart() }
        if owner.id == user.id { return try transaction.assign(device, to: user.id) }
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
