package import Database

/// Reads of end users (analytics §13.2). Tombstones are not shown.
extension Analytics {
    package func endUsers(
        _ filter: EndUserFilter, after cursor: Cursor<Int64>?, limit: PageLimit, of team: Team.ID, _ database: Database
    ) throws -> Page<ListedEndUser> {
        try database.snapshot { connection in
            let projects = try connection.visibleProjects(of: team, in: filter.scope)
            let walk = try connection.walk(filter, in: projects)
            let keys = try connection.page(of: walk, after: cursor, limit)
            return Page(keys, .descending, try connection.completed(connection.endUsers(keys))) { user in
                let time = filter.sort == .lastSeen ? user.lastSeenAt : user.firstSeenAt
                return Cursor(time: time.rawValue, id: user.record.rawValue)
            }
        }
    }

    /// The users of one app.
    ///
    /// - Throws: `notFound` unless the app is live and belongs to the team.
    package func endUsers(
        ofApp id: String, _ filter: EndUserFilter, after cursor: Cursor<Int64>?, limit: PageLimit, of team: Team.ID,
        _ database: Database
    ) throws -> Page<ListedEndUser> {
        let app = try database.read { try $0.requireApp(id, of: team) }
        var filter = filter
        guard filter.scope.app.map({ $0 == app }) ?? true else { return Page() }
        filter.scope.app = app
        return try endUsers(filter, after: cursor, limit: limit, of: team, database)
    }

    /// - Throws: `notFound` unless the user belongs to a live project of the team.
    package func endUser(_ id: String, of team: Team.ID, _ database: Database) throws -> ListedEndUser {
        let user = try UUID(id).flatMap { id in
            try database.snapshot { connection in
                try connection.completed(connection.endUser(id, of: team).map { [$0] } ?? []).first
            }
        }
        guard let user else { throw Refusal.notFound("User not found") }
        return user
    }
}
