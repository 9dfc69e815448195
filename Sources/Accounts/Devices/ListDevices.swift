package import MariaDB
package import Time

/// A device as it is shown to its owner.
package struct ListedDevice: Sendable {
    package var id: Device.ID
    package var uuid: String
    package var platform: String
    /// The application that made it, if the server's own app did not.
    package var application: String?
    package var firstSeenAt: Timestamp
    package var lastSeenAt: Timestamp
}

extension Connection {
    /// A user's devices, the one that was used last first.
    package func listedDevices(of user: User.ID) throws -> [ListedDevice] {
        try all(
            """
            SELECT d.id, d.device_uuid, d.platform, a.name, d.first_seen_at, d.last_seen_at
            FROM devices d LEFT JOIN applications a ON a.id = d.application_id
            WHERE d.user_id = ? ORDER BY d.last_seen_at DESC, d.id DESC
            """, user
        ) { row in
            ListedDevice(
                id: try row.read(), uuid: try row.read(), platform: try row.read(), application: try row.read(),
                firstSeenAt: try row.read(), lastSeenAt: try row.read())
        }
    }
}
