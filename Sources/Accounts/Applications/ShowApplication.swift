package import MariaDB

extension Connection {
    /// How many people's consent each application has; those without any are missing.
    package func liveGrants() throws -> [Application.ID: Int] {
        let counts = try all(
            "SELECT application_id, COUNT(*) FROM grants WHERE revoked_at IS NULL GROUP BY application_id"
        ) { row in (try row.read(Application.ID.self), try row.read(Int.self)) }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    package func liveGrants(of application: Application.ID) throws -> Int {
        try first("SELECT COUNT(*) FROM grants WHERE application_id = ? AND revoked_at IS NULL", application) { row in
            try row.read()
        } ?? 0
    }
}
