import MariaDB

/// A table whose rows a merge moves, or a swap moves or deletes, in the order of accounts §0.4.
enum JournaledTable: String, CaseIterable {
    case users
    case identities
    case devices
    case deviceAnonymousIDs = "device_anonymous_ids"
    case pushTokens = "push_tokens"
    case loginEvents = "login_events"
    case grants
    case refreshFamilies = "refresh_families"
    case refreshTokens = "refresh_tokens"
    case agents
    case agentApprovals = "agent_approvals"
    case agentApprovalKeys = "agent_approval_keys"
    case agentApprovalHistory = "agent_approval_history"
    case pushApprovals = "push_approval_requests"
    case absorbedSubs = "absorbed_subs"
    case identityLinks = "identity_links"
    case applications

    struct Column: Sendable {
        enum Kind { case integer, text, json, binary, time }

        let name: StaticString
        let kind: Kind

        static func integer(_ name: StaticString) -> Column { Column(name: name, kind: .integer) }
        static func text(_ name: StaticString) -> Column { Column(name: name, kind: .text) }
        static func json(_ name: StaticString) -> Column { Column(name: name, kind: .json) }
        static func binary(_ name: StaticString) -> Column { Column(name: name, kind: .binary) }
        static func time(_ name: StaticString) -> Column { Column(name: name, kind: .time) }
    }

    /// What is kept of a row.
    enum Image: CaseIterable {
        /// What an undo compares with the present.
        case compared
        /// That, and what else it needs of a row that was moved.
        case moved
        /// Everything, if the row was deleted.
        case whole
    }

    var definition: Definition {
        guard let definition = Self.definitions[self] else { preconditionFailure("\(rawValue) is not described") }
        return definition
    }

    struct Definition: Sendable {
        let name: StaticString
        /// The primary key.
        let key: [Column]
        /// Whose the row is; nil for rows that go with another row.
        var owner: StaticString?
        /// The columns whose change since refuses an undo, beside the owner. What is only activity, and the secret of a device, is
        /// not among them.
        var watched: [Column] = []
        /// What else an undo needs of a row that was moved.
        var needed: [Column] = []
        /// All the others, but generated and derived ones.
        let others: [Column]
        /// Columns that follow from the rows that refer to a row. They are neither kept nor brought back.
        var derived: [StaticString] = []
        /// The rows `r` of a user: what follows FROM, of one statement or more that each find others. The argument is the user. Each
        /// names its index: weighing four of them costs more than reading the rows.
        let rows: [StaticString]
        /// The id of the row that a row `r` belongs to, and whose fate it shares.
        var parent: StaticString = "NULL"
        var parentTable: JournaledTable?
        /// Whether clean-up deletes rows in time, so that a missing one says nothing.
        var isErasable = false

        var columns: [Column] { key + watched + needed + others }
    }

    private static let definitions: [JournaledTable: Definition] = [
        .users: Definition(
            name: "users", key: [.integer("id")],
            others: [
                .integer("version"), .integer("anonymous"), .integer("previously_anonymous"), .text("name"),
                .text("nickname"), .text("contact_email"), .text("login_email"), .integer("login_email_authoritative"),
                .text("role"), .json("custom_claims"), .time("created_at"), .time("last_active_at"),
                .time("deleted_at"),
                .time("purge_at"), .text("phone_number"), .text("address"), .text("postal_code"),
                .integer("verified_level"),
            ],
            derived: ["has_merges", "verified_addresses"],
            rows: ["users r WHERE r.id = ?"]),
        .identities: Definition(
            name: "identities", key: [.integer("id")], owner: "user_id",
            others: [
                .text("provider"), .text("sub"), .text("email"), .integer("email_verified"),
                .integer("email_authoritative"), .time("linked_at"), .text("apple_client_id"),
                .binary("apple_token_handle"), .binary("apple_token"), .integer("forwards_email"),
                .time("forwarding_changed_at"), .time("consented_at"),
            ],
            rows: ["identities r FORCE INDEX (identities_user) WHERE r.user_id = ?"]),
        .devices: Definition(
            name: "devices", key: [.integer("id")], owner: "user_id",
            others: [
                .text("device_uuid"), .text("platform"), .binary("secret_digest"), .integer("attestation_verified"),
                .integer("application_id"), .time("first_seen_at"), .time("last_seen_at"),
            ],
            derived: ["live_paks", "live_paks_at"],
            rows: ["devices r FORCE INDEX (devices_user) WHERE r.user_id = ?"]),
        .deviceAnonymousIDs: Definition(
            name: "device_anonymous_ids", key: [.integer("id")],
            others: [.integer("device_id"), .text("anonymous_id")],
            rows: ["devices d STRAIGHT_JOIN device_anonymous_ids r ON r.device_id = d.id WHERE d.user_id = ?"],
            parent: "r.device_id", parentTable: .devices),
        .pushTokens: Definition(
            name: "push_tokens", key: [.integer("device_id")],
            others: [.text("token"), .text("environment"), .time("updated_at")],
            rows: ["devices d STRAIGHT_JOIN push_tokens r ON r.device_id = d.id WHERE d.user_id = ?"],
            parent: "r.device_id", parentTable: .devices),
        .loginEvents: Definition(
            name: "login_events", key: [.integer("id")], owner: "user_id",
            others: [
                .text("event"), .text("provider"), .text("ip"), .text("user_agent"), .text("platform"),
                .time("created_at"),
            ],
            rows: ["login_events r FORCE INDEX (login_events_user) WHERE r.user_id = ?"], isErasable: true),
        .grants: Definition(
            name: "grants", key: [.integer("id")], owner: "user_id",
            watched: [.text("scopes"), .time("revoked_at")], needed: [.text("sub")],
            others: [.integer("application_id"), .time("created_at"), .time("last_used_at")],
            rows: ["grants r FORCE INDEX (grants_user) WHERE r.user_id = ?"]),
        .refreshFamilies: Definition(
            name: "refresh_families", key: [.integer("id")],
            others: [
                .integer("grant_id"), .time("created_at"), .time("revoked_at"), .binary("handle"), .text("scopes"),
                .time("authenticated_at"), .binary("current_digest"), .time("current_expires_at"),
                .binary("predecessor_digest"), .binary("sealed_answer"), .time("answer_expires_at"),
                .text("answered_scope"), .binary("sid"), .binary("answer_key_digest"), .time("answer_key_expires_at"),
                .integer("from_anonymous"),
            ],
            // A family that comes back is revoked, so nobody asks for its revoked tokens.
            derived: ["has_revoked_tokens"],
            rows: ["grants g STRAIGHT_JOIN refresh_families r ON r.grant_id = g.id WHERE g.user_id = ?"],
            parent: "r.grant_id", parentTable: .grants),
        .refreshTokens: Definition(
            name: "refresh_tokens", key: [.binary("digest")],
            others: [.integer("refresh_family_id"), .time("expires_at")],
            rows: [
                """
                grants g STRAIGHT_JOIN refresh_families f ON f.grant_id = g.id
                STRAIGHT_JOIN refresh_tokens r ON r.refresh_family_id = f.id WHERE g.user_id = ?
                """
            ],
            parent: "f.grant_id", parentTable: .grants),
        .agents: Definition(
            name: "agents", key: [.integer("id")], owner: "user_id",
            watched: [
                .text("name"), .time("revoked_at"), .text("auth_mode"), .binary("public_key"), .binary("token_digest"),
                .json("allowed_action_types"), .json("allowed_ips"),
            ],
            others: [.text("public_id"), .time("created_at"), .text("agent_type")],
            rows: ["agents r FORCE INDEX (agents_user) WHERE r.user_id = ?"], isErasable: true),
        .agentApprovals: Definition(
            name: "agent_approvals", key: [.integer("id")], owner: "user_id", watched: [.text("status")],
            others: [
                .integer("agent_id"), .text("public_id"), .text("display_payload_hash"), .time("created_at"),
                .text("action_type"), .text("title"), .text("body"), .binary("sealed_request"), .time("expires_at"),
                .time("decided_at"), .integer("tries"), .time("last_polled_at"), .integer("history_length"),
                .binary("history_digest"),
            ],
            rows: ["agent_approvals r FORCE INDEX (agent_approvals_user_newest) WHERE r.user_id = ?"],
            parent: "r.agent_id", parentTable: .agents,
            isErasable: true),
        .agentApprovalKeys: Definition(
            name: "agent_approval_keys", key: [.integer("agent_id"), .binary("key_digest")],
            others: [.binary("body_digest"), .integer("approval_id")],
            rows: ["agent_approvals p STRAIGHT_JOIN agent_approval_keys r ON r.approval_id = p.id WHERE p.user_id = ?"],
            parent: "r.approval_id", parentTable: .agentApprovals),
        .agentApprovalHistory: Definition(
            name: "agent_approval_history", key: [.integer("id")], owner: "user_id", others: [],
            rows: ["agent_approval_history r FORCE INDEX (agent_approval_history_user) WHERE r.user_id = ?"],
            isErasable: true),
        .pushApprovals: Definition(
            name: "push_approval_requests", key: [.integer("id")],
            watched: [
                .integer("requested_user_id"), .integer("approved_user_id"), .text("status"), .time("completed_at"),
            ],
            needed: [.time("decided_at")],
            others: [
                .time("created_at"), .time("expires_at"), .text("public_id"), .binary("browser_digest"),
                .binary("sealed_number"), .integer("tries"), .text("ip"), .text("user_agent"),
                .integer("application_id"), .integer("by_code"),
            ],
            rows: [
                """
                push_approval_requests r FORCE INDEX (push_approval_requests_requested) WHERE r.requested_user_id = ?
                """,
                """
                push_approval_requests r FORCE INDEX (push_approval_requests_approved)
                WHERE r.approved_user_id = ? AND NOT r.requested_user_id <=> r.approved_user_id
                """,
            ], isErasable: true),
        .absorbedSubs: Definition(
            name: "absorbed_subs", key: [.integer("application_id"), .text("sub")], owner: "canonical_user_id",
            others: [
                .text("via"), .integer("was_anonymous"), .time("occurred_at"), .text("source_event_id"),
            ],
            rows: ["absorbed_subs r FORCE INDEX (absorbed_subs_canonical) WHERE r.canonical_user_id = ?"]),
        .identityLinks: Definition(
            name: "identity_links", key: [.integer("id")], owner: "primary_user_id",
            others: [.integer("linked_user_id"), .text("merged_via"), .text("idempotency_key"), .time("created_at")],
            rows: ["identity_links r FORCE INDEX (identity_links_primary) WHERE r.primary_user_id = ?"]),
        .applications: Definition(
            name: "applications", key: [.integer("id")], owner: "owner_user_id", others: [],
            rows: ["applications r FORCE INDEX (applications_owner) WHERE r.owner_user_id = ?"]),
    ]
}

extension JournaledTable.Column {
    /// Its value as a member of a JSON object: times and binary values as text.
    fileprivate var member: [StaticString] {
        switch kind {
        case .integer, .time: ["'", name, "', r.", name]
        // As text in one collation. JSON, too, so that every byte comes back.
        case .text, .json: ["'", name, "', CONCAT(CONVERT(r.", name, " USING utf8mb4) COLLATE utf8mb4_nopad_bin)"]
        case .binary: ["'", name, "', HEX(r.", name, ")"]
        }
    }

    /// Its declaration in JSON_TABLE.
    fileprivate var declaration: [StaticString] {
        switch kind {
        case .integer: [name, " BIGINT PATH '$.", name, "'"]
        case .text, .json: [name, " LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$.", name, "'"]
        case .binary: [name, " LONGTEXT CHARACTER SET ascii PATH '$.", name, "'"]
        case .time: [name, " DATETIME(3) PATH '$.", name, "'"]
        }
    }

    fileprivate var value: [StaticString] {
        if case .binary = kind { ["UNHEX(j.", name, ")"] } else { ["j.", name] }
    }
}

extension JournaledTable.Definition {
    /// Statements that read the rows of a user: the table's name, parent, key and image. The image is a JSON object, without the
    /// owner. The argument of each is the user.
    func scans(_ image: JournaledTable.Image) -> [[StaticString]] {
        rows.map {
            ["SELECT '", name, "', ", parent, ", "] + keyText + [", "] + object(of: image) + [" FROM ", $0]
        }
    }

    /// Reads key, owner and image of rows by their keys, which are the argument: a JSON array of objects.
    var present: [StaticString] {
        ["SELECT "] + keyText + [", "] + (owner.map { ["r.", $0] } ?? ["NULL"]) + [", "]
            + object(of: .compared) + [" FROM JSON_TABLE(?, '$[*]' COLUMNS ("] + list(key.map(\.declaration))
            + [")) j STRAIGHT_JOIN ", name, " r ON "] + keysAreEqual
    }

    /// Inserts rows again. The arguments are the owner, if the table has one, and a JSON array of whole images.
    var insertion: [StaticString] {
        ["INSERT INTO ", name, " ("] + list(columns.map { [$0.name] } + (owner.map { [[$0]] } ?? [])) + [") SELECT "]
            + list(columns.map(\.value) + (owner == nil ? [] : [["?"]])) + [" FROM JSON_TABLE(?, '$[*]' COLUMNS ("]
            + list(columns.map(\.declaration)) + [")) j"]
    }

    /// Gives rows to an owner. The arguments are their keys, a JSON array of objects, and the owner.
    func assignment(to owner: StaticString) -> [StaticString] {
        ["UPDATE JSON_TABLE(?, '$[*]' COLUMNS ("] + list(key.map(\.declaration)) + [
            ")) j STRAIGHT_JOIN ", name, " r ON ",
        ]
            + keysAreEqual + [" SET r.", owner, " = ?"]
    }

    private var keysAreEqual: [StaticString] { list(key.map { ["r.", $0.name, " = "] + $0.value }, " AND ") }

    private var keyText: [StaticString] {
        ["CONVERT(CONCAT_WS(' ', "] + list(key.map(\.text)) + [") USING utf8mb4) COLLATE utf8mb4_nopad_bin"]
    }

    private func object(of image: JournaledTable.Image) -> [StaticString] {
        let shown =
            switch image {
            case .compared: key + watched
            case .moved: key + watched + needed
            case .whole: columns
            }
        return ["CONVERT(JSON_OBJECT("] + list(shown.map(\.member)) + [") USING utf8mb4) COLLATE utf8mb4_nopad_bin"]
    }

    private func list(_ items: [[StaticString]], _ separator: StaticString = ", ") -> [StaticString] {
        Array(items.joined(separator: [separator]))
    }
}

extension JournaledTable.Column {
    fileprivate var text: [StaticString] {
        switch kind {
        case .binary: ["HEX(r.", name, ")"]
        case .text, .json: ["CONVERT(r.", name, " USING utf8mb4) COLLATE utf8mb4_nopad_bin"]
        case .integer, .time: ["r.", name]
        }
    }
}
