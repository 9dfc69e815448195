package import Database

/// Reads of events (analytics §13.1). A row that names a tombstone counts for the record that the tombstone points at.
/// Rows before the horizon are not shown.
extension Analytics {
    package func events(
        _ filter: EventFilter, _ order: ListOrder, after cursor: Cursor<ListedEvent.ID>?, limit: PageLimit,
        of team: Team.ID, _ database: Database
    ) throws -> Page<ListedEvent> {
        try database.snapshot { connection in
            guard let selection = try connection.selection(of: filter, team) else { return Page() }
            let keys = try connection.page(of: selection.walk(filter, order), after: cursor, limit)
            return Page(keys, order, try connection.events(keys)) { Cursor(time: $0.timestamp.rawValue, id: $0.id) }
        }
    }

    package func countEvents(_ filter: EventFilter, of team: Team.ID, _ database: Database) throws -> EventCount {
        try database.snapshot { connection in
            guard let selection = try connection.selection(of: filter, team) else { return EventCount() }
            return try connection.countEvents(selection, filter)
        }
    }

    /// - Throws: `notFound` unless the event belongs to a live app of the team.
    package func event(_ id: String, of team: Team.ID, _ database: Database) throws -> EventDetail {
        let detail = try ListedEvent.ID(id).flatMap { id in
            try database.snapshot { connection in try connection.event(id, of: team) }
        }
        guard let detail else { throw Refusal.notFound("Event not found") }
        return detail
    }
}

/// The number of events, of their users and of their sessions (analytics §13.1).
package struct EventCount: Encodable, Sendable {
    var count = 0
    var uniqueUsers = 0
    var uniqueSessions = 0
}
