import MariaDB
package import Time

/// A team as an operator sees it.
package struct TeamSummary: Sendable {
    package var id: Team.ID
    package var name: String
    package var createdAt: Timestamp
}

extension AnalyticsTransaction {
    /// Several teams may have the same name.
    package func createTeam(name: String) throws -> TeamSummary {
        try OperatorError.check(name: name, of: "the team")
        let team = TeamSummary(id: Team.ID(at: now), name: name, createdAt: now)
        try connection.execute(
            "INSERT INTO teams (id, name, created_at) VALUES (?, ?, ?)", team.id, team.name, team.createdAt)
        return team
    }
}

extension Connection {
    func requireTeam(_ id: Team.ID) throws {
        guard try first("SELECT 1 FROM teams WHERE id = ?", id, read: { row in try row.read(Int.self) }) != nil else {
            throw OperatorError("there is no team \(id); `merganserctl team list` shows them")
        }
    }

    /// All teams in order of creation.
    package func teams() throws -> [TeamSummary] {
        try all("SELECT id, name, created_at FROM teams ORDER BY created_at, id") { row in
            TeamSummary(id: try row.read(), name: try row.read(), createdAt: try row.read())
        }
    }
}
