package import MariaDB
import Time

/// What a relying party asks for when it polls its events (accounts §3.6).
package struct EventPoll: Sendable {
    /// The cursor of the answer before, or an event's id; nil: from an hour ago.
    package var since: String?
    /// The most events of an answer.
    package var limit: Int
    /// Nil: of any type.
    package var types: Set<String>?

    package static let defaultLimit = 100
    package static let largestLimit = 1000

    package init(since: String?, limit: Int, types: Set<String>?) {
        self.since = since
        self.limit = limit
        self.types = types
    }
}

package struct EventPage: Sendable {
    package struct Row: Sendable {
        package var seq: Int64
        /// The envelope's bytes as they were made.
        package var payload: [UInt8]
    }

    /// Ascending by seq.
    package var events: [Row]
    /// What the next poll begins after; nil when nothing came and nothing was given.
    package var nextCursor: String?
    package var hasMore: Bool
}

extension Accounts {
    /// The events of an application since a cursor, oldest first.
    ///
    /// A row is visible from its commit on, and numbers are given in commit order: no later poll finds one before the
    /// cursor.
    ///
    /// - Throws: `invalidCursor` for a cursor that the application was never given, and for one that events were erased
    ///   after.
    package func pollEvents(
        _ poll: EventPoll, of application: Application, _ connection: Connection
    ) throws -> EventPage {
        guard let seq = try connection.seq(since: poll.since, of: application.id, at: clock.now) else {
            return EventPage(events: [], nextCursor: nil, hasMore: false)
        }
        let rows = try connection.events(after: seq, poll, of: application.id)
        // Checked after the rows were read, so that rows that were erased before then are noticed.
        if poll.since != nil, seq > 0, try !connection.isComplete(after: seq, of: application.id) {
            throw Failure.invalidCursor
        }
        let page = Array(rows.prefix(poll.limit))
        return EventPage(
            events: page, nextCursor: page.last.map { String($0.seq) } ?? poll.since, hasMore: rows.count > page.count)
    }

    /// How far back a poll without a cursor goes.
    fileprivate static let recent = Duration.seconds(3600)
}

extension Connection {
    /// The number of the event after which a poll begins; nil when it begins after nothing and nothing is recent.
    ///
    /// - Throws: `invalidCursor` if the text is neither a number nor an event's id.
    fileprivate func seq(since: String?, of application: Application.ID, at now: Timestamp) throws -> Int64? {
        guard let since else {
            return try first(
                """
                SELECT seq - 1 FROM webhook_outbox WHERE application_id = ? AND event_id >= ? ORDER BY event_id LIMIT 1
                """, application, Event.firstID(at: now - Accounts.recent)
            ) { row in try row.read() }
        }
        if let seq = Int64(cursor: since) { return seq }
        guard since.isASCII, let seq = try seq(ofEvent: since, application) else { throw Failure.invalidCursor }
        return seq
    }

    private func seq(ofEvent id: String, _ application: Application.ID) throws -> Int64? {
        try first("SELECT seq FROM webhook_outbox WHERE application_id = ? AND event_id = ?", application, id) { row in
            try row.read()
        }
    }

    /// One more than the limit, if there are as many. One statement, so that all of it is of one instant.
    fileprivate func events(
        after seq: Int64, _ poll: EventPoll, of application: Application.ID
    ) throws -> [EventPage.Row] {
        var sql: ComposedSQL
        if let types = poll.types {
            let kinds = Event.Kind.allCases.filter { types.contains($0.rawValue) }
            if kinds.isEmpty { return [] }
            // Each type from its own part of the index: rare ones are found without reading the others.
            sql = ComposedSQL("SELECT o.seq, o.raw_payload FROM (")
            for (index, kind) in kinds.enumerated() {
                if index > 0 { sql.append(" UNION ALL ") }
                sql.append(
                    """
                    (SELECT seq FROM webhook_outbox WHERE application_id = ? AND event_type = ? AND seq > ?
                     ORDER BY seq LIMIT ?)
                    """, application, kind.rawValue, seq, poll.limit + 1)
            }
            sql.append(
                """
                 ORDER BY seq LIMIT ?) page JOIN webhook_outbox o ON o.application_id = ? AND o.seq = page.seq
                ORDER BY o.seq
                """, poll.limit + 1, application)
        } else {
            sql = ComposedSQL(
                "SELECT seq, raw_payload FROM webhook_outbox WHERE application_id = ? AND seq > ? ORDER BY seq LIMIT ?",
                application, seq, poll.limit + 1)
        }
        return try all(sql) { row in EventPage.Row(seq: try row.read(), payload: try row.read()) }
    }

    /// Whether a number was given and every event after it is still there.
    fileprivate func isComplete(after seq: Int64, of application: Application.ID) throws -> Bool {
        try first(
            """
            SELECT ? <= c.last_seq AND ? >= COALESCE(
                (SELECT MIN(o.seq) FROM webhook_outbox o WHERE o.application_id = c.application_id), c.last_seq + 1) - 1
            FROM application_event_counters c WHERE c.application_id = ?
            """, seq, seq, application
        ) { row in try row.read() } ?? false
    }
}
