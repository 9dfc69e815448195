import Analytics
import HTTP
import JSON
import MariaDB
import TestSupport
import Time

/// Rows as requests of SDKs store them, for tests of reads.
extension AnalyticsScene {
    /// The record with a name; nil if there is none.
    func recordID(of user: String) throws -> Int64? {
        try app.sql { db in
            try db.first("SELECT id FROM app_users WHERE project_id = ? AND user_id = ?", project, user) { row in
                try row.read()
            }
        }
    }

    /// A record; a tombstone when it is merged into another.
    @discardableResult
    func insertUser(_ name: String, mergedInto owner: Int64? = nil, isDev: Bool = false, at time: Timestamp? = nil)
        throws -> Int64
    {
        let (id, time) = (UUID(at: app.time.now), time ?? app.time.now)
        try app.change(
            """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, merged_into, merged_at, first_seen_at,
                                   last_seen_at, is_dev)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, id, project, name, name.hasPrefix("owl_anon_"), owner, owner.map { _ in time }, time, time, isDev)
        return Int64(try app.count("SELECT id FROM app_users WHERE public_id = ?", id))
    }

    /// An event of the scene's app, unless another one is named.
    ///
    /// - Returns: its id.
    @discardableResult
    func insertEvent(
        _ message: String, of user: Int64? = nil, at time: Timestamp? = nil, app id: UUID? = nil,
        session: String = AnalyticsScene.session, level: String = "info", screen: String? = nil,
        environment: String? = "ios", isDev: Bool = false
    ) throws -> UUID {
        let event = UUID(at: app.time.now)
        try app.change(
            """
            INSERT INTO events (id, app_id, session_id, app_user_id, level, message, screen_name, environment, is_dev,
                                timestamp, received_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, event, id ?? appID, UUID(session), user, level, message, screen, environment, isDev,
            time ?? app.time.now,
            app.time.now)
        return event
    }

    @discardableResult
    func insertFeedback(
        _ message: String, of user: Int64? = nil, at time: Timestamp? = nil, app id: UUID? = nil,
        status: String = "new", isDev: Bool = false
    ) throws -> UUID {
        let feedback = UUID(at: app.time.now)
        try app.change(
            """
            INSERT INTO feedback (id, app_id, project_id, app_user_id, message, status, is_dev, created_at, updated_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, feedback, id ?? appID, project, user, message, status, isDev, time ?? app.time.now, app.time.now)
        return feedback
    }

    /// The answer to a GET with the agent's key.
    func get(_ path: String, _ client: Client, token: String? = nil) -> Answer {
        client.send(.get, path, token: token ?? agentKey)
    }
}

/// An id as SQL's `HEX` writes it.
func hexadecimal(_ id: UUID) -> String { id.digits.uppercased() }

/// - Parameter id: as the wire has it.
func hexadecimal(_ id: String?) -> String { id.flatMap { UUID($0) }.map(hexadecimal) ?? "no id" }

extension Answer {
    /// A member of every object in a list, as text.
    func all(_ member: String, in list: String) -> [String] {
        json[list]?.array?.map { $0[member]?.string ?? "null" } ?? []
    }
}
