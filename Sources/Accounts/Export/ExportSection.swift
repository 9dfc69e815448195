import JSON
import MariaDB
import Time

/// The rows of one kind in an export.
struct ExportSection: Sendable {
    /// How a column is shown. NULL is `null`.
    enum Column {
        case text, integer, flag, time
        /// Words with spaces between them, as an array.
        case words
        case json
        /// Two columns: the public id of an agent's request, and what the server keeps sealed of it.
        case context
    }

    /// The document's member.
    let name: String
    /// Selects a number that orders the rows, then `columns` in their order. Its parameters are the user, the number of the
    /// last row before, and how many rows.
    let sql: StaticString
    let columns: KeyValuePairs<String, Column>
    /// Whether a merge leaves rows under the id of the account that it absorbed. Then they are read, too.
    var includesAbsorbed = false

    /// At most so many rows are in memory at once: of the largest, agents' requests, 10 MiB.
    private static let page = 100

    /// Calls `body` for each row, in their order.
    func forEach(
        of user: User.ID, _ connection: Connection, _ serverKey: ServerKey, _ body: (JSONValue) throws -> Void
    ) throws {
        var last: Int64 = 0
        while true {
            let rows = try connection.all(sql, user, last, Self.page) { row in
                let number = try row.read(Int64.self)
                var members: [(String, JSONValue)] = []
                for (name, column) in columns { members.append((name, try column.read(from: &row, serverKey))) }
                return (number: number, value: JSONValue.object(JSONObject(members)))
            }
            for row in rows { try body(row.value) }
            guard rows.count == Self.page, let end = rows.last?.number else { return }
            last = end
        }
    }
}

extension ExportSection.Column {
    fileprivate func read(from row: inout Row, _ serverKey: ServerKey) throws -> JSONValue {
        switch self {
        case .text: return try row.read(String?.self).map(JSONValue.string) ?? .null
        case .integer: return try row.read(Int64?.self).map(JSONValue.integer) ?? .null
        case .flag: return try row.read(Bool?.self).map(JSONValue.bool) ?? .null
        case .time: return try row.read(Timestamp?.self).map { .string($0.iso8601) } ?? .null
        case .words:
            return try row.read(String?.self).map {
                .array($0.split(separator: " ").map { .string(String($0)) })
            } ?? .null
        case .json: return try row.read(String?.self).map { try JSONValue(json: Array($0.utf8)) } ?? .null
        case .context:
            let (publicID, sealed) = (try row.read(String.self), try row.read([UInt8]?.self))
            // The rest of the data is not withheld because one value cannot be opened; the doctor reports that.
            let opened = sealed.flatMap { try? serverKey.open($0, for: AgentApproval.row(publicID)) }
            return opened.flatMap { try? SealedRequest(json: $0).context.value() } ?? .null
        }
    }
}

extension ExportSection {
    /// The account itself; one row.
    static let account = ExportSection(
        name: "account",
        sql: """
            SELECT id, id, anonymous, previously_anonymous, name, nickname, contact_email, login_email,
                   login_email_authoritative, phone_number, address, postal_code, verified_level, role, custom_claims,
                   created_at, last_active_at, deleted_at, purge_at
            FROM users WHERE id = ? AND id > ? LIMIT ?
            """,
        columns: [
            "id": .integer, "anonymous": .flag, "previously_anonymous": .flag, "name": .text, "nickname": .text,
            "contact_email": .text, "login_email": .text, "login_email_authoritative": .flag, "phone_number": .text,
            "address": .text, "postal_code": .text, "verified_level": .integer, "role": .text, "custom_claims": .json,
            "created_at": .time, "last_active_at": .time, "deleted_at": .time, "purge_at": .time,
        ])

    /// Everything else, oldest first; what stayed with absorbed accounts follows, account by account. Credentials that live for minutes are left out.
    static let all = [
        ExportSection(
            name: "absorbed_accounts",
            sql: """
                SELECT l.id, u.id, l.merged_via, l.created_at, u.anonymous, u.previously_anonymous, u.name, u.nickname,
                       u.contact_email, u.login_email, u.login_email_authoritative, u.phone_number, u.address,
                       u.postal_code, u.verified_level, u.role, u.custom_claims, u.created_at, u.last_active_at
                FROM identity_links l JOIN users u ON u.id = l.linked_user_id
                WHERE l.primary_user_id = ? AND l.id > ? ORDER BY l.id LIMIT ?
                """,
            columns: [
                "id": .integer, "merged_via": .text, "merged_at": .time, "anonymous": .flag,
                "previously_anonymous": .flag, "name": .text, "nickname": .text, "contact_email": .text,
                "login_email": .text, "login_email_authoritative": .flag, "phone_number": .text, "address": .text,
                "postal_code": .text, "verified_level": .integer, "role": .text, "custom_claims": .json,
                "created_at": .time, "last_active_at": .time,
            ]),
        ExportSection(
            name: "identities",
            sql: """
                SELECT id, provider, sub, email, email_verified, email_authoritative, linked_at, consented_at, forwards_email,
                       forwarding_changed_at
                FROM identities WHERE user_id = ? AND id > ? ORDER BY id LIMIT ?
                """,
            columns: [
                "provider": .text, "sub": .text, "email": .text, "email_verified": .flag, "email_authoritative": .flag,
                "linked_at": .time, "consented_at": .time, "forwards_email": .flag, "forwarding_changed_at": .time,
            ]),
        ExportSection(
            name: "devices",
            sql: """
                SELECT d.id, d.device_uuid, d.platform, a.client_id, d.attestation_verified, d.first_seen_at, d.last_seen_at,
                       t.environment, t.updated_at, (
                           SELECT JSON_ARRAYAGG(i.anonymous_id ORDER BY i.id) FROM device_anonymous_ids i
                           WHERE i.device_id = d.id)
                FROM devices d LEFT JOIN applications a ON a.id = d.application_id
                LEFT JOIN push_tokens t ON t.device_id = d.id WHERE d.user_id = ? AND d.id > ? ORDER BY d.id LIMIT ?
                """,
            columns: [
                "device_uuid": .text, "platform": .text, "client_id": .text, "attestation_verified": .flag,
                "first_seen_at": .time, "last_seen_at": .time, "push_environment": .text,
                "push_registered_at": .time, "anonymous_ids": .json,
            ]),
        ExportSection(
            name: "sessions",
            sql: """
                SELECT p.id, p.user_id, d.device_uuid, a.client_id, p.scopes, p.label, p.created_at, p.revoked_at
                FROM paks p LEFT JOIN devices d ON d.id = p.device_id LEFT JOIN applications a ON a.id = p.application_id
                WHERE p.user_id = ? AND p.id > ? ORDER BY p.id LIMIT ?
                """,
            columns: [
                "account_id": .integer, "device_uuid": .text, "client_id": .text, "scopes": .words, "label": .text,
                "created_at": .time, "revoked_at": .time,
            ], includesAbsorbed: true),
        ExportSection(
            name: "web_sessions",
            sql: """
                SELECT id, provider, created_at, last_used_at, expires_at FROM web_sessions
                WHERE user_id = ? AND id > ? ORDER BY id LIMIT ?
                """,
            columns: ["provider": .text, "created_at": .time, "last_used_at": .time, "expires_at": .time]),
        ExportSection(
            name: "connected_apps",
            sql: """
                SELECT g.id, a.client_id, a.name, g.sub, g.scopes, g.created_at, g.last_used_at, g.revoked_at
                FROM grants g JOIN applications a ON a.id = g.application_id
                WHERE g.user_id = ? AND g.id > ? ORDER BY g.id LIMIT ?
                """,
            columns: [
                "client_id": .text, "name": .text, "sub": .text, "scopes": .words, "granted_at": .time,
                "last_used_at": .time, "revoked_at": .time,
            ]),
        ExportSection(
            name: "sign_ins_at_apps",
            sql: """
                SELECT f.id, a.client_id, f.scopes, f.authenticated_at, f.created_at, f.revoked_at
                FROM grants g JOIN refresh_families f ON f.grant_id = g.id JOIN applications a ON a.id = g.application_id
                WHERE g.user_id = ? AND f.id > ? ORDER BY f.id LIMIT ?
                """,
            columns: [
                "client_id": .text, "scopes": .words, "authenticated_at": .time, "created_at": .time,
                "revoked_at": .time,
            ]),
        ExportSection(
            name: "earlier_subs",
            sql: """
                SELECT s.number, a.client_id, s.sub, s.via, s.was_anonymous, s.occurred_at
                FROM (SELECT application_id, sub, via, was_anonymous, occurred_at,
                             ROW_NUMBER() OVER (ORDER BY occurred_at, application_id, sub) AS number
                      FROM absorbed_subs WHERE canonical_user_id = ?) s
                JOIN applications a ON a.id = s.application_id WHERE s.number > ? ORDER BY s.number LIMIT ?
                """,
            columns: ["client_id": .text, "sub": .text, "via": .text, "was_anonymous": .flag, "occurred_at": .time]),
        ExportSection(
            name: "agents",
            sql: """
                SELECT id, public_id, name, agent_type, auth_mode, TO_BASE64(public_key), allowed_action_types, allowed_ips,
                       created_at, revoked_at
                FROM agents WHERE user_id = ? AND id > ? ORDER BY id LIMIT ?
                """,
            columns: [
                "id": .text, "name": .text, "type": .text, "auth_mode": .text, "public_key": .text,
                "allowed_action_types": .json, "allowed_ips": .json, "created_at": .time, "revoked_at": .time,
            ]),
        ExportSection(
            name: "agent_approvals",
            sql: """
                SELECT p.id, p.public_id, a.public_id, p.status, p.action_type, p.title, p.body, p.public_id,
                       p.sealed_request, p.display_payload_hash, p.tries,
                       p.created_at, p.expires_at, p.decided_at, p.last_polled_at
                FROM agent_approvals p FORCE INDEX (agent_approvals_user_newest) JOIN agents a ON a.id = p.agent_id
                WHERE p.user_id = ? AND p.id > ? ORDER BY p.id LIMIT ?
                """,
            columns: [
                "id": .text, "agent_id": .text, "status": .text, "action_type": .text, "title": .text, "body": .text,
                "context": .context, "display_payload_hash": .text, "wrong_numbers": .integer, "created_at": .time,
                "expires_at": .time, "decided_at": .time, "last_polled_at": .time,
            ]),
        ExportSection(
            name: "agent_approval_history",
            sql: """
                SELECT id, approval, sequence, event, at, display_payload_hash
                FROM agent_approval_history FORCE INDEX (agent_approval_history_user)
                WHERE user_id = ? AND id > ? ORDER BY id LIMIT ?
                """,
            columns: [
                "agent_approval_id": .text, "sequence": .integer, "event": .text, "at": .time,
                "display_payload_hash": .text,
            ]),
        ExportSection(
            name: "push_approvals",
            sql: """
                WITH mine AS (SELECT id FROM users WHERE id = ?)
                SELECT p.id, p.public_id, p.requested_user_id = named.user_id, p.approved_user_id = named.user_id, p.status,
                       p.by_code, a.client_id, p.ip, p.user_agent, p.tries, p.created_at, p.expires_at, p.decided_at,
                       p.completed_at
                FROM (SELECT r.id, mine.id AS user_id FROM mine STRAIGHT_JOIN push_approval_requests r
                          FORCE INDEX (push_approval_requests_requested) ON r.requested_user_id = mine.id
                      UNION SELECT r.id, mine.id FROM mine STRAIGHT_JOIN push_approval_requests r
                          FORCE INDEX (push_approval_requests_approved) ON r.approved_user_id = mine.id) named
                STRAIGHT_JOIN push_approval_requests p ON p.id = named.id
                LEFT JOIN applications a ON a.id = p.application_id
                WHERE p.id > ? ORDER BY p.id LIMIT ?
                """,
            columns: [
                "id": .text, "requested_by_me": .flag, "decided_by_me": .flag, "status": .text, "by_code": .flag,
                "client_id": .text, "ip": .text, "user_agent": .text, "wrong_numbers": .integer, "created_at": .time,
                "expires_at": .time, "decided_at": .time, "completed_at": .time,
            ]),
        ExportSection(
            name: "own_applications",
            sql: """
                SELECT id, client_id, name, status, created_at FROM applications
                WHERE owner_user_id = ? AND id > ? ORDER BY id LIMIT ?
                """,
            columns: ["client_id": .text, "name": .text, "status": .text, "created_at": .time]),
        ExportSection(
            name: "login_events",
            sql: """
                SELECT id, event, provider, ip, user_agent, platform, created_at
                FROM login_events FORCE INDEX (login_events_user) WHERE user_id = ? AND id > ? ORDER BY id LIMIT ?
                """,
            columns: [
                "event": .text, "provider": .text, "ip": .text, "user_agent": .text, "platform": .text,
                "created_at": .time,
            ]),
        ExportSection(
            name: "activity",
            sql: """
                SELECT id, user_id, at, actor, action, request_id, ip, details
                FROM audit_log FORCE INDEX (audit_log_user) WHERE user_id = ? AND id > ? ORDER BY id LIMIT ?
                """,
            columns: [
                "account_id": .integer, "at": .time, "actor": .text, "action": .text, "request_id": .text, "ip": .text,
                "details": .json,
            ], includesAbsorbed: true),
    ]
}
