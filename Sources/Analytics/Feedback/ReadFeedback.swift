package import Database
import MariaDB

/// Which feedback a read shows (analytics §13.3).
package struct FeedbackFilter: Sendable {
    package var scope: ReadScope
    package var status: String?
    package var isDev: Bool?
    /// Nil means production, unless `isDev` is set.
    package var dataMode: DataMode?

    package init(_ scope: ReadScope) { self.scope = scope }

    /// The values of `is_dev` to show.
    var modes: [Bool] {
        (dataMode ?? (isDev == nil ? .production : .all)).modes.filter { isDev == nil || $0 == isDev }
    }
}

/// Reads of feedback (analytics §13.3). Deleted messages are not shown.
extension Analytics {
    package func feedback(
        _ filter: FeedbackFilter, after cursor: Cursor<ListedFeedback.ID>?, limit: PageLimit, of team: Team.ID,
        _ database: Database
    ) throws -> Page<ListedFeedback> {
        // Every status is ASCII.
        if filter.status?.isASCII == false { return Page() }
        return try database.snapshot { connection in
            let apps = try connection.visibleApps(of: team, in: filter.scope)
            let keys = try connection.page(of: .feedback(filter, of: apps.map(\.id)), after: cursor, limit)
            return Page(keys, .descending, try connection.feedback(keys)) {
                Cursor(time: $0.createdAt.rawValue, id: $0.id)
            }
        }
    }

    /// The feedback of one project.
    ///
    /// - Throws: `notFound` unless the project is live and belongs to the team.
    package func feedback(
        ofProject id: String, _ filter: FeedbackFilter, after cursor: Cursor<ListedFeedback.ID>?, limit: PageLimit,
        of team: Team.ID, _ database: Database
    ) throws -> Page<ListedFeedback> {
        let project = try database.read { try $0.requireProject(id, of: team) }
        var filter = filter
        guard filter.scope.project.map({ $0 == project }) ?? true else { return Page() }
        filter.scope.project = project
        return try feedback(filter, after: cursor, limit: limit, of: team, database)
    }
}
