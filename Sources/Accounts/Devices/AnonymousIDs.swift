import JSON
package import MariaDB

/// The anonymous ids that apps on a device report events under (accounts Stage 5). They are kept with the device, so that
/// whoever owns it next gets what is reported under them.
extension Connection {
    /// The oldest first.
    package func anonymousIDs(on device: Device.ID) throws -> [String] {
        try all("SELECT anonymous_id FROM device_anonymous_ids WHERE device_id = ? ORDER BY id", device) { row in
            try row.read()
        }
    }

    package func anonymousIDs(onDevicesOf user: User.ID) throws -> [String] {
        try all(
            """
            SELECT a.anonymous_id FROM devices d JOIN device_anonymous_ids a ON a.device_id = d.id WHERE d.user_id = ?
            """, user
        ) { row in try row.read() }
    }
}

/// The device's owner is locked.
extension AccountsTransaction {
    private static let keptAnonymousIDs = 8

    package func keep(_ anonymousID: String, on device: Device.ID) throws {
        try connection.execute(
            "INSERT INTO device_anonymous_ids (device_id, anonymous_id) VALUES (?, ?)", device, anonymousID)
    }

    /// Drops the oldest ids of a device so that one more can be kept.
    ///
    /// - Returns: how many.
    package func makeRoom(among count: Int, on device: Device.ID) throws -> Int {
        let surplus = max(0, count + 1 - Self.keptAnonymousIDs)
        if surplus > 0 {
            try connection.execute(
                "DELETE FROM device_anonymous_ids WHERE device_id = ? ORDER BY id LIMIT ?", device, surplus)
        }
        return surplus
    }

    /// The id itself is not written: who can name it can claim it.
    package func auditRefusedClaim(in project: String, of user: User.ID, because reason: String) {
        audit(
            .claimRefused, user: user, actor: .user(user), ["project_id": .string(project), "reason": .string(reason)])
    }
}
