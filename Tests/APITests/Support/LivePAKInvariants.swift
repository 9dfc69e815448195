import MariaDB

extension Connection {
    /// Makes each device keep its live PAKs, as its next launch would, so that the check finds out who forgets to drop them.
    func keepLivePAKs() throws {
        try execute(
            """
            UPDATE devices d SET live_paks_at = last_seen_at, live_paks = (
                SELECT GROUP_CONCAT(id ORDER BY id) FROM paks WHERE device_id = d.id AND revoked_at IS NULL)
            """)
    }

    /// What must be true of `devices.live_paks` at any time: if a launch would take them as they are, they are the live PAKs of the
    /// device.
    func livePAKProblems() throws -> [String] {
        try all(
            """
            SELECT d.id, d.live_paks, GROUP_CONCAT(p.id ORDER BY p.id)
            FROM devices d LEFT JOIN paks p ON p.device_id = d.id AND p.revoked_at IS NULL
            WHERE d.live_paks_at = d.last_seen_at AND d.live_paks IS NOT NULL
            GROUP BY d.id, d.live_paks HAVING NOT d.live_paks <=> GROUP_CONCAT(p.id ORDER BY p.id)
            """
        ) { row in
            let (device, kept) = (try row.read(Int.self), try row.read(String.self))
            return "device \(device) has kept the PAKs \(kept), but \(try row.read(String?.self) ?? "none") live"
        }
    }
}
