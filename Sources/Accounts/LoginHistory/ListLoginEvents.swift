package import MariaDB
package import Time

/// A row of the login history.
package struct LoggedEvent: Sendable {
    package typealias ID = Identifier<LoggedEvent>

    package let id: ID
    /// A `LoginEvent`, or one that a later release wrote.
    package let event: String
    package let provider: String?
    /// Nil if an operator did it.
    package let address: String?
    package let userAgent: String?
    package let platform: String?
    package let createdAt: Timestamp
}

/// A part of a login history.
package struct LoginHistoryPage: Sendable {
    /// The most events of a page.
    package static let largestLimit = 200
    package static let defaultLimit = 50

    /// Newest first.
    package let events: [LoggedEvent]
    /// What the next page begins before; nil at the end.
    package let nextCursor: String?
}

extension Accounts {
    /// The sign-ins of a user, newest first, in one read of an index however long the history is.
    ///
    /// - Parameters:
    ///   - cursor: of the page before; nil: from the newest on.
    ///   - limit: 1…200
    /// - Throws: `invalidCursor`.
    package func loginHistory(
        of user: User.ID, before cursor: String?, limit: Int, _ connection: Connection
    ) throws -> LoginHistoryPage {
        let end = try cursor.map { cursor in
            guard let id = Int64(cursor: cursor) else { throw Failure.invalidCursor }
            return id
        }
        // By itself MariaDB would rather read the end of the table, where others' events are, too.
        let found = try connection.all(
            """
            SELECT id, event, provider, ip, user_agent, platform, created_at
            FROM login_events FORCE INDEX (login_events_user)
            WHERE user_id = ? AND id < ? ORDER BY id DESC LIMIT ?
            """, user, end ?? .max, limit + 1
        ) { row in
            LoggedEvent(
                id: try row.read(), event: try row.read(), provider: try row.read(), address: try row.read(),
                userAgent: try row.read(), platform: try row.read(), createdAt: try row.read())
        }
        let events = Array(found.prefix(limit))
        return LoginHistoryPage(
            events: events, nextCursor: found.count > limit ? events.last.map { "\($0.id.rawValue)" } : nil)
    }
}
