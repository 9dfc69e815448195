import Database
import JSON
import MariaDB
import Time

extension AppUser {
    init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        userID = try row.read()
        isAnonymous = try row.read()
        mergedInto = try row.read()
        properties = try row.read()
        isNew = false
    }
}

extension AnalyticsTransaction {
    func lockRecord(named id: EndUserID, in project: Project.ID) throws -> AppUser? {
        try connection.first(
            """
            SELECT id, user_id, is_anonymous, merged_into, properties
            FROM app_users WHERE project_id = ? AND user_id = ? FOR UPDATE
            """, project, id
        ) { row in try AppUser(from: &row) }
    }

    func lockRecord(_ id: AppUser.ID) throws -> AppUser? {
        try connection.first(
            "SELECT id, user_id, is_anonymous, merged_into, properties FROM app_users WHERE id = ? FOR UPDATE", id
        ) { row in try AppUser(from: &row) }
    }

    /// Locks in ascending order: the rows are met in the order of the list. Those that are gone are missing.
    func lockRecords(_ ids: Set<AppUser.ID>) throws -> [AppUser.ID: AppUser] {
        if ids.isEmpty { return [:] }
        let records = try connection.all(
            """
            SELECT u.id, u.user_id, u.is_anonymous, u.merged_into, u.properties
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN app_users u FORCE INDEX (PRIMARY) ON u.id = j.id
            FOR UPDATE
            """, list(ids.sorted().map(\.rawValue))
        ) { row in try AppUser(from: &row) }
        return Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0) })
    }

    /// Whoever claimed an id last.
    func claimant(of id: EndUserID, in project: Project.ID) throws -> AppUser.ID? {
        try connection.first(
            """
            SELECT app_user_id FROM identity_claims
            WHERE project_id = ? AND anonymous_id = ? ORDER BY claimed_at DESC LIMIT 1
            """, project, id
        ) { row in try row.read() }
    }

    /// A record that was not there a moment ago. If another request made it meanwhile, that one, locked like our own: an
    /// insert that fails would leave a shared lock, and two of those a deadlock.
    func insertRecord(named id: EndUserID, in project: Project.ID, _ new: NewRecord) throws -> AppUser {
        try insertRecords(named: [id], in: project, new)[id] ?? { throw TransactionMustRestart() }()
    }

    /// - Parameter ids: in ascending order, which is the order they are locked in.
    func insertRecords(
        named ids: [EndUserID], in project: Project.ID, _ new: NewRecord
    ) throws -> [EndUserID: AppUser] {
        if ids.isEmpty { return [:] }
        let wanted = ids.map { Wanted(userID: $0.rawValue, isAnonymous: $0.isAnonymous, publicID: UUID(at: now)) }
        let fresh = Set(wanted.map(\.publicID))
        let records = try connection.all(
            """
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at, is_dev)
            SELECT j.public_id, ?, j.user_id, j.is_anonymous, ?, ?, ?
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                user_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.user_id' ERROR ON ERROR,
                is_anonymous BOOLEAN PATH '$.is_anonymous', public_id CHAR(36) CHARACTER SET ascii PATH '$.public_id')) j
            ON DUPLICATE KEY UPDATE id = app_users.id
            RETURNING id, user_id, is_anonymous, merged_into, properties, public_id
            """, project, now, now, new.isDev, String(decoding: wanted.json(), as: UTF8.self)
        ) { row in
            var record = try AppUser(from: &row)
            record.isNew = fresh.contains(try row.read(UUID.self))
            return record
        }
        return Dictionary(uniqueKeysWithValues: records.map { ($0.userID, $0) })
    }

    private struct Wanted: Encodable {
        let userID: String
        let isAnonymous: Bool
        let publicID: UUID

        private enum CodingKeys: String, CodingKey {
            case userID = "user_id"
            case isAnonymous = "is_anonymous"
            case publicID = "public_id"
        }
    }
}

extension Connection {
    /// The record each id's data belongs to at this moment; nil where there is none.
    func lookUp(
        _ ids: Set<EndUserID>, in project: Project.ID
    ) throws -> [(id: EndUserID, owner: AppUser.ID?)] {
        try all(
            """
            SELECT j.user_id, COALESCE(
                (SELECT c.app_user_id FROM identity_claims c
                 WHERE c.project_id = ? AND c.anonymous_id = j.user_id ORDER BY c.claimed_at DESC LIMIT 1), u.id)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                user_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$' ERROR ON ERROR)) j
            LEFT JOIN app_users u ON u.project_id = ? AND u.user_id = j.user_id
            """, project, list(ids.sorted().map(\.rawValue)), project
        ) { row in (try row.read(), try row.read()) }
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

/// Values as the text of a JSON array: a parameter for as many rows as there are.
func list(_ values: [some Encodable]) -> String { String(decoding: values.json(), as: UTF8.self) }
