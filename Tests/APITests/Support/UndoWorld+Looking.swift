import API
import JSON
import MariaDB
import TestSupport
import Testing
import Text

@testable import Accounts

extension UndoWorld {
    /// Tables that an undo need not bring back (accounts Stage 6), and those that `RecordWorld` looks at.
    private static let exempt: Set<String> = [
        "audit_log", "webhook_outbox", "application_event_counters", "paks", "web_sessions", "swap_tickets",
        "merge_tokens",
        "merge_otps", "provider_sign_ins", "authorization_codes", "device_codes", "logout_tokens", "merge_journals",
        "merge_journal_parts",
        "rate_limits", "idempotency_records", "revoked_access_tokens", "schema_migrations", "daily_counts",
        // Analytics.
        "projects", "app_users", "app_user_apps", "app_user_event_counts", "identity_claims", "events", "metric_events",
        "funnel_events", "feedback", "event_attachments", "issues", "issue_occurrences", "questionnaires",
        "questionnaire_responses", "apps", "teams", "api_keys", "attachment_locks", "record_erasures",
        "retention_horizons",
    ]

    /// Versions and activity times, and what is looked at otherwise.
    private static let exemptColumns: Set<String> = [
        "users.version", "users.last_active_at", "devices.last_seen_at", "devices.live_paks", "devices.live_paks_at",
        "applications.version", "grants.last_used_at",
        // Never taken back.
        "users.has_merges",
        // What the identities are then; `subjectProblems` compares them.
        "users.verified_addresses",
    ]

    /// Everything that an undo has to bring back.
    struct Snapshot: Equatable {
        /// By table and primary key, as an `UndoConflict` names them.
        var rows: [String: String] = [:]
        fileprivate(set) var records: Set<String> = []
        fileprivate(set) var readers: [String: String] = [:]

        /// What only one of both has.
        func difference(_ other: Snapshot) -> String {
            let mine = Set(rows.values).union(records)
            let others = Set(other.rows.values).union(other.records)
            let changed = mine.subtracting(others).map { "- \($0)" } + others.subtracting(mine).map { "+ \($0)" }
            let readers = readers.filter { other.readers[$0.key] != $0.value }.map { "\($0.key) read as \($0.value)" }
            return (changed + readers).sorted { $0.dropFirst() < $1.dropFirst() }.joined(separator: "\n")
        }
    }

    /// How a table is read.
    struct Table {
        let name: String
        let key: String
        let columns: [(name: String, text: String)]
    }

    /// What is known before a merge of the rows that will not come back as they were.
    struct Horizon {
        /// The newest rows of histories, to which an undo adds.
        var login = 0
        var history = 0
        /// Families that a swap deletes, which return revoked.
        var families: [Int] = []
        /// Requests that a swap cancels before it deletes them, so that their history goes on.
        var cancelled: [Int] = []
        var device = 0
        /// What a sign-in to Apple confirms.
        var identity = 0
    }

    /// Before the merge.
    func horizon() throws -> Horizon {
        func newest(_ sql: StaticString) throws -> Int { try db.first(sql) { row in try row.read(Int.self) } ?? 0 }
        var horizon = Horizon(
            login: try newest("SELECT COALESCE(MAX(id), 0) FROM login_events"),
            history: try newest("SELECT COALESCE(MAX(id), 0) FROM agent_approval_history"))
        if plan.way == .browser { horizon.identity = plan.identity }
        guard plan.way == .swap else { return horizon }
        horizon.device = plan.device ?? 0
        if !plan.byTicket { horizon.identity = plan.identity }
        let selected = plan.options["rps"]?.array?.compactMap(\.string)
        horizon.families = try db.all(
            """
            SELECT f.id, g.revoked_at IS NOT NULL OR EXISTS (
                SELECT 1 FROM grants own
                WHERE own.user_id = ? AND own.application_id = g.application_id AND own.revoked_at IS NULL), a.client_id
            FROM refresh_families f JOIN grants g ON g.id = f.grant_id JOIN applications a ON a.id = g.application_id
            WHERE g.user_id = ?
            """, Self.survivor, Self.absorbed
        ) { row in (id: try row.read(Int.self), isDeleted: try row.read(Bool.self), client: try row.read(String.self)) }
        .filter { $0.isDeleted || selected?.contains($0.client) == false }.map(\.id)
        horizon.cancelled = try db.all(
            """
            SELECT r.id FROM agent_approvals r WHERE r.user_id = ? AND r.status = 'pending' AND (? OR EXISTS (
                SELECT 1 FROM agent_approvals own
                WHERE own.user_id = ? AND own.status = 'pending' AND own.display_payload_hash = r.display_payload_hash))
            """, Self.absorbed, plan.options["agent_approvals"] == false, Self.survivor
        ) { row in try row.read() }
        return horizon
    }

    /// - Parameter horizon: of before the merge.
    func snapshot(_ horizon: Horizon) throws -> Snapshot {
        try app.database.settle()
        var snapshot = Snapshot()
        for row in try db.query(try statement(horizon)) {
            snapshot.rows[String(decoding: row[0] ?? [], as: UTF8.self)] = String(decoding: row[1] ?? [], as: UTF8.self)
        }
        if hasRecords {
            snapshot.records = try records.rows()
            snapshot.readers = try records.readers()
        }
        return snapshot
    }

    /// Reads each row's table with its key, and the row as a line.
    private func statement(_ horizon: Horizon) throws -> String {
        func list(_ ids: [Int]) -> String { (ids + [0]).map(String.init).joined(separator: ", ") }
        let tables = try self.tables ?? readTables()
        self.tables = tables
        return tables.map { table in
            var condition = "TRUE"
            var returned: (ids: [Int], columns: Set<String>) = ([], [])
            switch table.name {
            case "login_events": condition = "id <= \(horizon.login)"
            case "agent_approval_history": condition = "id <= \(horizon.history)"
            case "devices": returned = ([horizon.device], ["secret_digest"])
            case "agent_approvals": returned = (horizon.cancelled, ["history_length", "history_digest"])
            case "identities": returned = ([horizon.identity], ["consented_at"])
            case "refresh_families":
                returned = (
                    horizon.families,
                    [
                        "revoked_at", "current_expires_at", "sealed_answer", "answer_expires_at", "answer_key_digest",
                        "answer_key_expires_at",
                    ]
                )
            default: break
            }
            let texts = table.columns.map { name, expression in
                let isReturned = returned.columns.contains(name)
                let value = isReturned ? "IF(id IN (\(list(returned.ids))), '*', \(expression))" : expression
                return "CONCAT('\(name)=', COALESCE(CONVERT(\(value) USING utf8mb4) COLLATE utf8mb4_bin, 'NULL'))"
            }
            let line = "CONCAT_WS(' ', '\(table.name):', \(texts.joined(separator: ", ")))"
            return "SELECT CONCAT_WS(' ', '\(table.name)', \(table.key)), \(line) FROM \(table.name) WHERE \(condition)"
        }.joined(separator: "\nUNION ALL ")
    }

    private func readTables() throws -> [Table] {
        let all = try db.all(
            """
            SELECT c.table_name, c.column_name, c.data_type, c.column_key = 'PRI' FROM information_schema.columns c
            JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
            WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position
            """
        ) { row in
            (
                table: try row.read(String.self), name: try row.read(String.self), type: try row.read(String.self),
                isKey: try row.read(Bool.self)
            )
        }
        let sealed = Set(SealedColumn.all.map(\.name))
        return Dictionary(grouping: all.filter { !Self.exempt.contains($0.table) }, by: \.table)
            .map { table, columns in
                func text(_ name: String, _ type: String) -> String {
                    // Sealed again, a value has other bytes; `expectSealedValues` opens it.
                    if sealed.contains("\(table).\(name)") { return "IF(\(name) IS NULL, NULL, 'sealed')" }
                    return type.hasSuffix("binary") || type.hasSuffix("blob") ? "HEX(\(name))" : name
                }
                let key = columns.filter(\.isKey).map { text($0.name, $0.type) }
                let shown = columns.filter { !Self.exemptColumns.contains("\(table).\($0.name)") }
                return Table(
                    name: table, key: key.joined(separator: ", "),
                    columns: shown.map { (name: $0.name, text: text($0.name, $0.type)) })
            }.sorted { $0.name < $1.name }
    }

    /// Those families have come back, and none of their tokens is good.
    func expectRevoked(_ families: [Int], sourceLocation: SourceLocation = #_sourceLocation) throws {
        for family in families {
            let isRevoked = try db.first("SELECT revoked_at IS NOT NULL FROM refresh_families WHERE id = ?", family) {
                row in
                try row.read(Bool.self)
            }
            #expect(isRevoked == true, "family \(family)", sourceLocation: sourceLocation)
        }
    }

    /// What was sealed for a row says the same.
    func expectSealedValues(sourceLocation: SourceLocation = #_sourceLocation) throws {
        for value in sealed {
            let found = try db.first(value.sql, value.id) { row in try row.read([UInt8]?.self) } ?? nil
            let text = try found.map { try app.service.accounts.serverKey.open($0, for: value.row) }
            #expect(text == value.text, "\(value.sql) \(value.id)", sourceLocation: sourceLocation)
        }
    }
}
