import JSON
import MariaDB

extension Device {
    /// The columns of a device `d` that `init(from:)` reads.
    static let columns: StaticString = """
        d.id, d.user_id, d.device_uuid, d.platform, d.attestation_verified, d.first_seen_at, d.last_seen_at,
        d.application_id, d.secret_digest
        """

    init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        owner = try row.read()
        uuid = try row.read()
        platform = try row.read()
        attestationVerified = try row.read()
        firstSeenAt = try row.read()
        lastSeenAt = try row.read()
        application = try row.read()
        secretDigest = try row.read()
    }
}

extension AccountsTransaction {
    /// Locks a device's owner, then the device, in one statement; nil if there is no such device, or if its owner changed
    /// between the look-up and the lock.
    ///
    /// - Returns: also the live PAKs of the device; nil for them if the device has not kept them, or if the release before, which
    ///   does not know that it keeps them, has seen the device since.
    func lockDeviceAndOwner(_ uuid: DeviceUUID) throws -> (device: Device, owner: User, paks: [PAK.ID]?)? {
        let found = try connection.first(Self.lockingDeviceAndOwner.with(uuid.text, uuid.text)) { row in
            let paks = try row.read(String?.self).flatMap([PAK.ID].init(kept:))
            let owner = try User(from: &row)
            let device = try Device(from: &row)
            return (device: device, owner: owner, paks: paks)
        }
        try writeOnCluster(found.map { [$0.owner] } ?? [])
        return found
    }

    private static let lockingDeviceAndOwner = ComposedSQL(
        select: "IF(d.live_paks_at = d.last_seen_at, d.live_paks, NULL)", User.columns, Device.columns,
        from: """
            users u STRAIGHT_JOIN devices d ON d.user_id = u.id
            WHERE u.id = (SELECT user_id FROM devices WHERE device_uuid = ?) AND d.device_uuid = ?
            FOR UPDATE
            """)

    /// Locks a device whose owner is locked already.
    func lockDevice(_ uuid: DeviceUUID) throws -> Device? {
        let sql = ComposedSQL(select: Device.columns, from: "devices d WHERE d.device_uuid = ? FOR UPDATE", uuid.text)
        return try connection.first(sql) { row in try Device(from: &row) }
    }

    /// Read without a lock. Whoever changes a device holds its owner's lock, so under that lock it stays as it was read.
    func device(_ uuid: DeviceUUID) throws -> Device? {
        let sql = ComposedSQL(select: Device.columns, from: "devices d WHERE d.device_uuid = ?", uuid.text)
        return try connection.first(sql) { row in try Device(from: &row) }
    }

    /// The device of the caller's PAK, which another user may have taken since the PAK was presented. The caller is locked.
    package func device(of caller: Caller) throws -> Device? {
        let sql = ComposedSQL(
            select: Device.columns,
            from: "paks p JOIN devices d ON d.id = p.device_id WHERE p.id = ? AND d.user_id = ?", caller.pak, caller.id)
        return try connection.first(sql) { row in try Device(from: &row) }
    }

    /// Inserts a new device. If two transactions insert the same UUID, one gets a duplicate key and runs again.
    ///
    /// - Parameter application: the one that the device is bound to (accounts §1.4).
    func createDevice(
        _ uuid: DeviceUUID, _ platform: DevicePlatform, of user: User.ID, application: Application.ID? = nil
    ) throws -> (Device, Secret) {
        let secret = Secret(.device)
        let outcome = try connection.execute(
            """
            INSERT INTO devices (user_id, device_uuid, platform, secret_digest, application_id, first_seen_at, last_seen_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, user, uuid.text, platform.rawValue, secret.digest, application, now, now)
        let device = Device(
            id: Device.ID(rawValue: Int64(outcome.lastInsertID)), owner: user, uuid: uuid.text,
            platform: platform.rawValue, attestationVerified: false, firstSeenAt: now, lastSeenAt: now,
            application: application, secretDigest: secret.digest)
        audit(.deviceCreated, user: user, actor: .user(user), ["device_id": .integer(device.id.rawValue)])
        return (device, secret)
    }

    /// Inserts an anonymous account with its first device, as `createUser` and `createDevice` do one after the other.
    func createAnonymousUser(
        on uuid: DeviceUUID, _ platform: DevicePlatform
    ) throws -> (User, Device, Secret) {
        let secret = Secret(.device)
        try connection.executeLater(
            "INSERT INTO users (anonymous, created_at, last_active_at) VALUES (TRUE, ?, ?)", now, now)
        let ids = try connection.first(
            """
            INSERT INTO devices (user_id, device_uuid, platform, secret_digest, first_seen_at, last_seen_at)
            VALUES (LAST_INSERT_ID(), ?, ?, ?, ?, ?) RETURNING user_id, id
            """, uuid.text, platform.rawValue, secret.digest, now, now
        ) { row in (user: try row.read(User.ID.self), device: try row.read(Device.ID.self)) }
        guard let ids else { throw MariaDBError("INSERT … RETURNING returned nothing") }
        let user = User(
            id: ids.user, anonymous: true, previouslyAnonymous: false, role: .user, createdAt: now, lastActiveAt: now)
        let device = Device(
            id: ids.device, owner: user.id, uuid: uuid.text, platform: platform.rawValue, attestationVerified: false,
            firstSeenAt: now, lastSeenAt: now, secretDigest: secret.digest)
        audit(.userCreated, user: user.id, actor: .user(user.id), ["anonymous": true])
        audit(.deviceCreated, user: user.id, actor: .user(user.id), ["device_id": .integer(device.id.rawValue)])
        return (user, device, secret)
    }

    /// Gives a locked device to a user, who may already own it. The device gets a new secret and is no longer bound to
    /// an application.
    func assign(_ device: Device, to user: User.ID) throws -> (Device, Secret) {
        let secret = Secret(.device)
        try connection.execute(
            """
            UPDATE devices SET user_id = ?, secret_digest = ?, application_id = NULL, last_seen_at = ?, live_paks = NULL
            WHERE id = ?
            """, user, secret.digest, now, device.id)
        let id = JSONValue.integer(device.id.rawValue)
        if device.owner != user {
            try forgetPushTokens(on: [device.id])
            audit(
                .deviceReassigned, user: user, actor: .user(user),
                ["device_id": id, "from_user_id": .integer(device.owner.rawValue)])
        }
        audit(.deviceSecretRotated, user: user, actor: .user(user), ["device_id": id])
        var device = device
        (device.owner, device.secretDigest, device.application, device.lastSeenAt) = (user, secret.digest, nil, now)
        return (device, secret)
    }

    /// Frees a locked device from the application that it is bound to, because a token of that application opens the
    /// account. Else an application whose first token on the device did not would never get a full PAK there, although
    /// it was authorized anew. PAKs that were issued before keep their scopes.
    func unbind(_ device: inout Device) throws {
        try connection.executeLater("UPDATE devices SET application_id = NULL WHERE id = ?", device.id)
        device.application = nil
    }

    /// Voids the secrets of a user's devices, except one.
    ///
    /// - Parameter actor: nil: the user.
    func voidDeviceSecrets(of user: User.ID, except kept: Device.ID?, by actor: AuditEntry.Actor? = nil) throws {
        let outcome = try connection.execute(
            "UPDATE devices SET secret_digest = NULL WHERE user_id = ? AND secret_digest IS NOT NULL AND NOT id <=> ?",
            user, kept)
        if outcome.affectedRows > 0 {
            audit(
                .deviceSecretVoided, user: user, actor: actor ?? .user(user),
                ["count": .integer(Int64(outcome.affectedRows))])
        }
    }
}
