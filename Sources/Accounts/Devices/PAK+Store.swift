import JSON
import MariaDB
import Text

extension AccountsTransaction {
    /// Issues a PAK. If it belongs to a device, all but the newest few PAKs of the device are revoked. The user is locked.
    ///
    /// The device is new, or was just assigned to the user: it has not kept which PAKs are live.
    ///
    /// - Parameter others: the live PAKs of the device, ascending; nil if they are not known yet.
    func issuePAK(
        to user: User.ID, device: Device.ID?, label: String?, actor: AuditEntry.Actor, besides others: [PAK.ID]? = nil
    ) throws -> (secret: Secret, scopes: [Scope]) {
        let (_, surplus) = divided(try others ?? device.map(livePAKs) ?? [])
        let pak = try insertPAK(of: user, device: device, application: nil, label: label, actor)
        try revokeSurplus(surplus, of: user, actor)
        return pak
    }

    /// Issues a PAK on a device that is used again, and records that it was active. The device keeps which PAKs are live then, so
    /// that the next launch need not read them.
    func issuePAK(
        to user: User.ID, onActive device: inout Device, label: String?, actor: AuditEntry.Actor,
        besides others: [PAK.ID]? = nil
    ) throws -> (secret: Secret, scopes: [Scope]) {
        let (kept, surplus) = divided(try others ?? livePAKs(of: device.id))
        let pak = try insertPAK(of: user, device: device.id, application: device.application, label: label, actor)
        device.lastSeenAt = now
        try connection.executeLater(
            """
            UPDATE devices SET last_seen_at = ?, live_paks = CONCAT(?, LAST_INSERT_ID()), live_paks_at = ? WHERE id = ?
            """, now, kept.textBeforeAnother, now, device.id)
        try revokeSurplus(surplus, of: user, actor)
        return pak
    }

    /// The PAKs of a device, ascending, that stay beside a new one, and those that are too many then.
    private func divided(_ paks: [PAK.ID]) -> (kept: ArraySlice<PAK.ID>, surplus: ArraySlice<PAK.ID>) {
        (paks.suffix(PAK.keptPerDevice - 1), paks.dropLast(PAK.keptPerDevice - 1))
    }

    private func insertPAK(
        of user: User.ID, device: Device.ID?, application: Application.ID?, label: String?, _ actor: AuditEntry.Actor
    ) throws -> (secret: Secret, scopes: [Scope]) {
        let secret = Secret(.pak)
        let (scopes, text) =
            application == nil
            ? (PAK.fullScopes, PAK.fullScopesText) : (PAK.appBoundScopes, PAK.appBoundScopesText)
        try connection.executeLater(
            """
            INSERT INTO paks (user_id, device_id, application_id, digest, scopes, label, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, user, device, application, secret.digest, text, label?.prefix(scalars: 100), now)
        audit(.pakIssued, user: user, actor: actor, device.map { ["device_id": .integer($0.rawValue)] } ?? [:])
        return (secret, scopes)
    }

    private func revokeSurplus(_ surplus: ArraySlice<PAK.ID>, of user: User.ID, _ actor: AuditEntry.Actor) throws {
        try connection.executeLater(
            "UPDATE paks FORCE INDEX (PRIMARY) SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
            rows: surplus.map { [now, $0] })
        auditRevocation(surplus.count, of: user, reason: "surplus", actor: actor)
    }

    /// Ascending. Whoever issues or revokes PAKs of a device holds its owner, who is locked here.
    private func livePAKs(of device: Device.ID) throws -> [PAK.ID] {
        try connection.all(
            "SELECT id FROM paks FORCE INDEX (paks_device) WHERE device_id = ? AND revoked_at IS NULL", device
        ) { row in try row.read() }
        // Not in the statement: MariaDB would sort, too (filesort), although the index has their order, and that takes it longer.
        .sorted()
    }

    // An index is named where a user's rows are changed: a scan of a small table would wait for rows of users that are not locked.

    /// For whoever revokes PAKs of the user: what the user's devices have kept of their live PAKs is no longer true.
    func forgetLivePAKs(of user: User.ID) throws {
        try connection.executeLater(
            """
            UPDATE devices FORCE INDEX (devices_user) SET live_paks = NULL
            WHERE user_id = ? AND live_paks IS NOT NULL
            """, user)
    }

    /// Revokes all live PAKs of a user, except one.
    func revokePAKs(of user: User.ID, except kept: PAK.ID?, reason: String, actor: AuditEntry.Actor) throws {
        let outcome = try connection.execute(
            """
            UPDATE paks FORCE INDEX (paks_user) SET revoked_at = ?
            WHERE user_id = ? AND revoked_at IS NULL AND NOT id <=> ?
            """, now, user, kept)
        try forgetLivePAKs(of: user)
        auditRevocation(outcome.affectedRows, of: user, reason: reason, actor: actor)
    }

    /// For a device that is deleted or assigned next, so what it has kept of its live PAKs goes, too.
    func revokePAKs(of user: User.ID, on device: Device.ID, reason: String, actor: AuditEntry.Actor) throws {
        let outcome = try connection.execute(
            """
            UPDATE paks FORCE INDEX (paks_device) SET revoked_at = ?
            WHERE user_id = ? AND device_id = ? AND revoked_at IS NULL
            """, now, user, device)
        auditRevocation(outcome.affectedRows, of: user, reason: reason, actor: actor)
    }

    func revokePAKs(
        of user: User.ID, boundTo application: Application.ID, reason: String, actor: AuditEntry.Actor
    ) throws {
        let outcome = try connection.execute(
            """
            UPDATE paks FORCE INDEX (paks_user) SET revoked_at = ?
            WHERE user_id = ? AND application_id = ? AND revoked_at IS NULL
            """, now, user, application)
        try forgetLivePAKs(of: user)
        auditRevocation(outcome.affectedRows, of: user, reason: reason, actor: actor)
    }

    /// Removes the device from a user's PAKs, because it belongs to another user now. The PAKs stay valid.
    func detachPAKs(of user: User.ID, from device: Device.ID) throws {
        try connection.execute(
            "UPDATE paks FORCE INDEX (paks_device) SET device_id = NULL WHERE user_id = ? AND device_id = ?", user,
            device)
    }

    private func auditRevocation(_ count: Int, of user: User.ID, reason: String, actor: AuditEntry.Actor) {
        guard count > 0 else { return }
        audit(.pakRevoked, user: user, actor: actor, ["count": .integer(Int64(count)), "reason": .string(reason)])
    }
}
