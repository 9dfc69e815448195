import JSON
import MariaDB

/// Rows of records that a merge makes, changes and deletes.
struct RecordStates {
    var records: [RecordState] = []
    var apps: [AppState] = []
    var claims: [ClaimState] = []
}

extension Connection {
    /// The rows of these records, in one statement.
    func states(of records: Set<Record.ID>) throws -> RecordStates {
        var states = RecordStates()
        if records.isEmpty { return states }
        let ids = list(records.sorted().map(\.rawValue))
        let rows = try all(
            """
            SELECT 'record', JSON_OBJECT('id', u.id, 'name', u.user_id, 'owner', u.merged_into, 'merged_at', u.merged_at,
                                         'first_seen_at', u.first_seen_at), u.properties
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN app_users u FORCE INDEX (PRIMARY) ON u.id = j.id
            UNION ALL
            SELECT 'app', JSON_OBJECT('record', a.app_user_id, 'app', HEX(a.app_id), 'first_seen_at', a.first_seen_at,
                                      'last_seen_at', a.last_seen_at), NULL
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN app_user_apps a FORCE INDEX (PRIMARY) ON a.app_user_id = j.id
            UNION ALL
            SELECT 'claim', JSON_OBJECT('id', c.id, 'project', HEX(c.project_id), 'anonymous_id', c.anonymous_id,
                                        'owner', c.app_user_id, 'claimed_at', c.claimed_at), NULL
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN identity_claims c FORCE INDEX (identity_claims_user) ON c.app_user_id = j.id
            """, ids, ids, ids
        ) { row in
            (kind: try row.read(String.self), state: try row.read(String.self), properties: try row.read(String?.self))
        }
        for row in rows {
            let json = Array(row.state.utf8)
            switch row.kind {
            case "record":
                var record = try RecordState(json: json)
                record.properties = row.properties
                states.records.append(record)
            case "app": states.apps.append(try AppState(json: json))
            default: states.claims.append(try ClaimState(json: json))
            }
        }
        return states
    }

    /// All claims of the ids that these claims are of.
    func claims(likeThose claims: [ClaimState]) throws -> [ClaimState] {
        let ids = Dictionary(claims.map { ([$0.project, $0.anonymousID.rawValue].map { Array($0.utf8) }, $0) }) {
            first, _ in first
        }
        return try batches(of: 2000, of: ids.values.sorted { $0.id < $1.id }).flatMap { try self.claims(ofIDsOf: $0) }
    }

    /// - Parameter claims: each of another id.
    private func claims(ofIDsOf claims: [ClaimState]) throws -> [ClaimState] {
        try all(
            """
            SELECT JSON_OBJECT('id', c.id, 'project', HEX(c.project_id), 'anonymous_id', c.anonymous_id,
                                        'owner', c.app_user_id, 'claimed_at', c.claimed_at)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (
                project CHAR(32) CHARACTER SET ascii PATH '$.project' ERROR ON ERROR,
                name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.anonymous_id' ERROR ON ERROR)) j
            STRAIGHT_JOIN identity_claims c ON c.project_id = UNHEX(j.project) AND c.anonymous_id = j.name
            """, list(claims)
        ) { row in try row.readState() }
    }

    /// The rows that name these records, in one statement.
    func rows(of records: Set<Record.ID>) throws -> [OwnedRow] {
        if records.isEmpty { return [] }
        let ids = list(records.sorted().map(\.rawValue))
        return try all(
            """
            SELECT JSON_OBJECT('table', 'feedback', 'key', HEX(r.id), 'owner', r.app_user_id, 'frozen_name', r.frozen_user_id,
                               'deleted_at', r.deleted_at, 'updated_at', r.updated_at)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN feedback r FORCE INDEX (feedback_user) ON r.app_user_id = j.id
            UNION ALL
            SELECT JSON_OBJECT('table', 'event_attachments', 'key', HEX(r.id), 'owner', r.app_user_id,
                               'frozen_name', r.frozen_user_id, 'deleted_at', r.deleted_at)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN event_attachments r FORCE INDEX (event_attachments_user) ON r.app_user_id = j.id
            UNION ALL
            SELECT JSON_OBJECT('table', 'issue_occurrences', 'key', HEX(r.id), 'owner', r.app_user_id)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN issue_occurrences r FORCE INDEX (issue_occurrences_user) ON r.app_user_id = j.id
            UNION ALL
            SELECT JSON_OBJECT('table', 'questionnaire_responses', 'key', HEX(r.id), 'owner', r.app_user_id,
                               'frozen_name', r.frozen_user_id, 'deleted_at', r.deleted_at, 'updated_at', r.updated_at)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN questionnaire_responses r FORCE INDEX (questionnaire_responses_user) ON r.app_user_id = j.id
            """, ids, ids, ids, ids
        ) { row in try row.readState() }
    }

    /// What is left of these rows.
    func present(_ rows: [OwnedRow]) throws -> [OwnedRow] {
        try batches(of: 50_000, of: rows).flatMap { try presentBatch($0) }
    }

    private func presentBatch(_ rows: [OwnedRow]) throws -> [OwnedRow] {
        let keys = Dictionary(grouping: rows, by: \.table).mapValues { list($0.map(\.key)) }
        return try all(
            """
            SELECT JSON_OBJECT('table', 'feedback', 'key', HEX(r.id), 'owner', r.app_user_id, 'frozen_name', r.frozen_user_id,
                               'deleted_at', r.deleted_at, 'updated_at', r.updated_at)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN feedback r FORCE INDEX (PRIMARY) ON r.id = UNHEX(j.id)
            UNION ALL
            SELECT JSON_OBJECT('table', 'event_attachments', 'key', HEX(r.id), 'owner', r.app_user_id,
                               'frozen_name', r.frozen_user_id, 'deleted_at', r.deleted_at)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN event_attachments r FORCE INDEX (PRIMARY) ON r.id = UNHEX(j.id)
            UNION ALL
            SELECT JSON_OBJECT('table', 'issue_occurrences', 'key', HEX(r.id), 'owner', r.app_user_id)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN issue_occurrences r FORCE INDEX (PRIMARY) ON r.id = UNHEX(j.id)
            UNION ALL
            SELECT JSON_OBJECT('table', 'questionnaire_responses', 'key', HEX(r.id), 'owner', r.app_user_id,
                               'frozen_name', r.frozen_user_id, 'deleted_at', r.deleted_at, 'updated_at', r.updated_at)
            FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
            STRAIGHT_JOIN questionnaire_responses r FORCE INDEX (PRIMARY) ON r.id = UNHEX(j.id)
            """, arguments: OwnedRow.Table.allCases.map { keys[$0] ?? "[]" }
        ) { row in try row.readState() }
    }
}

/// As many values at once as a statement gets, which must fit into `max_allowed_packet`.
private func batches<Value>(of count: Int, of values: [Value]) -> [[Value]] {
    stride(from: 0, to: values.count, by: count).map { Array(values[$0..<min($0 + count, values.count)]) }
}

extension Row {
    /// A row as one column of JSON text.
    fileprivate mutating func readState<State: Decodable>() throws -> State {
        try State(json: Array(read(String.self).utf8))
    }
}
