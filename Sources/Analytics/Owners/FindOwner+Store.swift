import Database
import MariaDB
package import Time

extension Record {
    init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        userID = try row.read()
        isAnonymous = try row.read()
        mergedInto = try row.read()
        properties = try row.read()
        firstSeenAt = try row.read()
        isNew = false
    }

    /// The columns of a record `u` that `init(from:)` reads.
    fileprivate static let columns: StaticString = """
        u.id, u.user_id, u.is_anonymous, u.merged_into, u.properties, u.first_seen_at
        """
}

extension AnalyticsTransaction {
    /// The horizon of `events` (analytics §14.2). It cannot move until this transaction ends.
    package func lockEventHorizon() throws -> Timestamp {
        try connection.first(
            "SELECT horizon FROM retention_horizons WHERE table_name = 'events' LOCK IN SHARE MODE"
        ) { row in try row.read() } ?? Timestamp(milliseconds: 0)
    }

    /// The first statement of most requests that write. So it also confirms the request's key.
    ///
    /// - Parameter app: where the user is seen; nil if that is not asked. The visit is locked with the record: an undo of a
    ///   merge that has just removed it is not overlooked.
    func lockRecord(named id: EndUserID, in project: Project.ID, seenIn app: App.ID? = nil) throws -> Record? {
        try app.map { app in try locked(Self.lockingSeenNamed.with(app, project, id), isSeen: true) }
            ?? locked(Self.lockingNamed.with(project, id), isSeen: false)
    }

    private static let lockingNamed = ComposedSQL(
        select: Record.columns, keyVersion, from: "app_users u WHERE u.project_id = ? AND u.user_id = ? FOR UPDATE")
    private static let lockingSeenNamed = ComposedSQL(
        select: Record.columns, keyVersion, sighting,
        from: """
            app_users u LEFT JOIN app_user_apps v ON v.app_user_id = u.id AND v.app_id = ?
            WHERE u.project_id = ? AND u.user_id = ? FOR UPDATE
            """)
    /// That of all API keys.
    private static let keyVersion: StaticString = "(SELECT version FROM api_key_version WHERE id = 1)"
    /// What a `Sighting` reads of a record `u` and its visit `v`. The last merge is read as it is by now, and not as it was before
    /// this statement waited for the record: only who holds the record merges into it, so the lock waits for nobody.
    private static let sighting: StaticString = """
        u.last_seen_at, v.last_seen_at,
        (SELECT MAX(t.merged_at) FROM app_users t WHERE t.merged_into = u.id LOCK IN SHARE MODE),
        u.last_country_code, u.last_app_version, u.last_sdk_name, u.last_sdk_version, u.last_locale,
        u.last_preferred_language, u.is_dev
        """

    func lockRecord(_ id: Record.ID, seenIn app: App.ID? = nil) throws -> Record? {
        try app.map { app in try locked(Self.lockingSeen.with(app, id), isSeen: true) }
            ?? locked(Self.locking.with(id), isSeen: false)
    }

    private static let locking = ComposedSQL(
        select: Record.columns, keyVersion, from: "app_users u WHERE u.id = ? FOR UPDATE")
    private static let lockingSeen = ComposedSQL(
        select: Record.columns, keyVersion, sighting,
        from: """
            app_users u LEFT JOIN app_user_apps v ON v.app_user_id = u.id AND v.app_id = ? WHERE u.id = ? FOR UPDATE
            """)

    private func locked(_ sql: ComposedSQL, isSeen: Bool) throws -> Record? {
        let record = try connection.first(sql) { row in
            var record = try Record(from: &row)
            let version: Int = try row.read()
            try proof?.confirm(version)
            if isSeen { record.sighting = try Sighting(from: &row) }
            return record
        }
        if let record { try writeOnCluster([record]) }
        return record
    }

    /// Lets no transaction on another node of a cluster change these locked records.
    private func writeOnCluster(_ records: [Record]) throws {
        try connection.writeOnCluster("UPDATE app_users SET version = version + 1 WHERE id IN ", records.map(\.id))
    }

    /// Locks records in the order of the list, which is ascending. Records that no longer exist are missing from the
    /// result.
    package func lockRecords(_ ids: Set<Record.ID>, seenIn app: App.ID? = nil) throws -> [Record.ID: Record] {
        if ids.isEmpty { return [:] }
        let list = list(ids.sorted().map(\.rawValue))
        let sql = app.map { Self.lockingSeveralSeen.with(list, $0) } ?? Self.lockingSeveral.with(list)
        let records = try connection.all(sql) { row in
            var record = try Record(from: &row)
            if app != nil { record.sighting = try Sighting(from: &row) }
            return record
        }
        try writeOnCluster(records)
        return Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
    }

    private static let lockingSeveral = ComposedSQL(
        select: Record.columns,
        from: """
            JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN app_users u FORCE INDEX (PRIMARY) ON u.id = j.id FOR UPDATE
            """)
    private static let lockingSeveralSeen = ComposedSQL(
        select: Record.columns, sighting,
        from: """
            JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN app_users u FORCE INDEX (PRIMARY) ON u.id = j.id
            LEFT JOIN app_user_apps v ON v.app_user_id = u.id AND v.app_id = ? FOR UPDATE
            """)

    /// The record whose user claimed an id last.
    func claimant(of id: EndUserID, in project: Project.ID) throws -> Record.ID? {
        try connection.first(
            """
            SELECT app_user_id FROM identity_claims
            WHERE project_id = ? AND anonymous_id = ? ORDER BY claimed_at DESC LIMIT 1
            """, project, id
        ) { row in try row.read() }
    }

    /// Creates a record. If another request has created it meanwhile, locks that one exclusively: an INSERT that fails
    /// would leave a shared lock, and two transactions with shared locks would deadlock. On a cluster only what is
    /// written is locked everywhere, so it counts up the version.
    func insertRecord(named id: EndUserID, in project: Project.ID, _ new: NewRecord) throws -> Record {
        let publicID = UUID(at: now)
        let record = try connection.first(
            """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at, is_dev)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON DUPLICATE KEY UPDATE version = app_users.version + 1
            RETURNING id, user_id, is_anonymous, merged_into, properties, first_seen_at, public_id
            """, publicID, project, id, id.isAnonymous, now, now, new.isDev
        ) { row in try Record(from: &row, newIf: [publicID]) }
        return try record ?? { throw TransactionMustRestart() }()
    }

    /// Creates records one by one, but in one round trip. An INSERT … SELECT would hold the table's AUTO-INC lock while
    /// it waits for a row. If the transaction that holds the row then inserted another, both would deadlock.
    ///
    /// - Parameter ids: in ascending order, so that records are locked in that order.
    func insertRecords(
        named ids: [EndUserID], in project: Project.ID, _ new: NewRecord
    ) throws -> [EndUserID: Record] {
        if ids.isEmpty { return [:] }
        if ids.count == 1 { return [ids[0]: try insertRecord(named: ids[0], in: project, new)] }
        let wanted = ids.map { (userID: $0, publicID: UUID(at: now)) }
        _ = try connection.executeMany(
            """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at, is_dev)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON DUPLICATE KEY UPDATE version = app_users.version + 1
            """, wanted.map { [$0.publicID, project, $0.userID, $0.userID.isAnonymous, now, now, new.isDev] })
        let fresh = Set(wanted.map(\.publicID))
        let records = try connection.all(
            """
            SELECT u.id, u.user_id, u.is_anonymous, u.merged_into, u.properties, u.first_seen_at, u.public_id
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                user_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN app_users u ON u.project_id = ? AND u.user_id = j.user_id
            """, list(ids.map(\.rawValue)), project
        ) { row in try Record(from: &row, newIf: fresh) }
        return Dictionary(uniqueKeysWithValues: records.map { ($0.userID, $0) })
    }
}

extension Record {
    /// - Parameter fresh: the public ids that this transaction has generated.
    fileprivate init(from row: inout Row, newIf fresh: Set<UUID>) throws(MariaDBError) {
        try self.init(from: &row)
        isNew = fresh.contains(try row.read())
    }
}

extension Connection {
    /// The present owner of each id; nil if there is none. The pointer is the record of a real id that leads to the owner.
    func lookUp(
        _ ids: Set<EndUserID>, in project: Project.ID
    ) throws -> [(id: EndUserID, owner: Record.ID?, pointer: Record.ID?)] {
        try all(
            """
            SELECT j.user_id, COALESCE(
                (SELECT c.app_user_id FROM identity_claims c
                 WHERE c.project_id = ? AND c.anonymous_id = j.user_id ORDER BY c.claimed_at DESC LIMIT 1),
                u.merged_into, u.id), IF(u.merged_into IS NOT NULL AND NOT u.is_anonymous, u.id, NULL)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                user_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$' ERROR ON ERROR)) j
            LEFT JOIN app_users u ON u.project_id = ? AND u.user_id = j.user_id
            """, project, list(ids.sorted().map(\.rawValue)), project
        ) { row in (try row.read(), try row.read(), try row.read()) }
    }

    func hasClaim(ofAnyOf ids: Set<EndUserID>, in project: Project.ID) throws -> Bool {
        try first(
            """
            SELECT 1
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                user_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$' ERROR ON ERROR)) j
            JOIN identity_claims c ON c.project_id = ? AND c.anonymous_id = j.user_id
            LIMIT 1
            """, list(ids.sorted().map(\.rawValue)), project
        ) { row in try row.read(Int.self) } != nil
    }
}
