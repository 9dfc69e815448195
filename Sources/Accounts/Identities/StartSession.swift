import Database
package import IdentityTokens
import OpenSSL
import Time

/// A sign-in with a provider's identity token, verified already (accounts §1.6).
package struct SessionStart: Sendable {
    package var token: IdentityToken
    package var fullName: PersonName?
    /// UUID and platform come together or not at all.
    package var device: (uuid: DeviceUUID, platform: Platform)?
    package var deviceSecret: String?

    package init(
        token: IdentityToken, fullName: PersonName?, device: (uuid: DeviceUUID, platform: Platform)?,
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
    package func startSession(_ start: SessionStart, in transaction: AccountsTransaction) throws -> SignedIn {
        let token = start.token
        let resolved = try resolve(token, transaction)
        let owner = try start.device.flatMap { try transaction.deviceOwner($0.uuid) }
        let users = try transaction.lockUsers(resolved.user, owner)
        guard try resolve(token, transaction) == resolved,
            try start.device.flatMap({ try transaction.deviceOwner($0.uuid) }) == owner
        else { throw TransactionMustRestart() }

        var user: User
        if let id = resolved.user {
            guard let found = users[id] else { throw TransactionMustRestart() }
            try found.checkNotDeleted()
            user = try signIn(found, by: resolved, start, transaction)
        } else {
            user = try createUser(start, transaction)
        }
        guard let named = start.device else {
            let pak = try transaction.issuePAK(to: user.id, device: nil, label: nil, actor: .user(user.id))
            return SignedIn(user: user, accessToken: pak.secret.text, scopes: pak.scopes)
        }
        let (device, secret) = try claim(
            named.uuid, named.platform, presenting: start.deviceSecret, for: user,
            from: owner.flatMap { users[$0] }, transaction)
        let pak = try transaction.issuePAK(
            to: user.id, device: device.id, label: named.platform.rawValue, actor: .user(user.id))
        return SignedIn(
            user: user, accessToken: pak.secret.text, scopes: pak.scopes, device: device, deviceSecret: secret.text)
    }

    private enum Resolution: Equatable {
        case identity(User.ID)
        case email(User.ID)
        case nobody

        var user: User.ID? {
            switch self {
            case .identity(let id), .email(let id): id
            case .nobody: nil
            }
        }
    }

    private func resolve(_ token: IdentityToken, _ transaction: AccountsTransaction) throws -> Resolution {
        let connection = transaction.connection
        if let holder = try connection.holder(of: token.provider, token.subject) { return .identity(holder.canonical) }
        guard let email = token.verifiedEmail, mayLink(by: email, of: token),
            let user = try connection.canonicalUser(ofLoginEmail: email.lowercased())
        else { return .nobody }
        return .email(user)
    }

    private func mayLink(by email: String, of token: IdentityToken) -> Bool {
        switch settings.linkByEmail {
        case .authoritative: EmailAddress.isAuthoritative(token, for: email)
        case .verified: true
        case .never: false
        }
    }

    private func signIn(
        _ found: User, by resolution: Resolution, _ start: SessionStart, _ transaction: AccountsTransaction
    ) throws -> User {
        let token = start.token
        if case .email = resolution {
            let identities = try transaction.connection.identities(of: found.id)
            if identities.contains(where: { $0.provider == token.provider.rawValue }) {
                throw Failure.emailLinkedToOtherIdentity(token.provider)
            }
            try transaction.insertIdentity(token, for: found.id)
        }
        var user = try transaction.filled(found, from: token, start.fullName)
        if user.isDueForActivity(at: transaction.now) { user.lastActiveAt = transaction.now }
        if user.anonymous {
            user = try transaction.promoted(user, keeping: nil)
        } else if user != found {
            try transaction.updateUser(user)
        }
        return user
    }

    private func createUser(_ start: SessionStart, _ transaction: AccountsTransaction) throws -> User {
        let email = start.token.verifiedEmail
        let loginEmail = try email.map { $0.lowercased() }.flatMap { try transaction.isFree(loginEmail: $0) ? $0 : nil }
        // Somebody took the address since it was looked up: this sign-in is theirs.
        if let email, loginEmail == nil, mayLink(by: email, of: start.token) { throw TransactionMustRestart() }
        let user = try transaction.createUser(
            anonymous: false, name: start.fullName?.display, contactEmail: email, loginEmail: loginEmail)
        try transaction.insertIdentity(start.token, for: user.id)
        return user
    }

    /// Makes the named device the user's: the identity token proves enough for the user's own, the device's secret is
    /// asked for another's.
    private func claim(
        _ uuid: DeviceUUID, _ platform: Platform, presenting presented: String?, for user: User, from owner: User?,
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
