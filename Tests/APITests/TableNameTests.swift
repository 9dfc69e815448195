import MariaDB
import TestSupport
import Testing

/// The tables and columns that operators' tools read (accounts §0.7).
@Suite struct TableNameTests {
    private static let tables: KeyValuePairs = [
        "users": """
        id anonymous previously_anonymous name nickname contact_email login_email role custom_claims created_at \
        last_active_at deleted_at purge_at
        """,
        "identities": "id user_id provider sub email email_verified linked_at",
        "devices": """
        id user_id device_uuid platform secret_digest attestation_verified application_id first_seen_at last_seen_at
        """,
        "paks": "id user_id device_id application_id digest scopes label revoked_at",
        "applications": """
        id client_id name client_type secret_digest redirect_uris allowed_scopes status owner_user_id webhook_url \
        allow_anonymous_grants notify_anonymous_swap first_party
        """,
        "grants": "id user_id application_id sub scopes created_at revoked_at",
        "agents": "user_id",
        "agent_approvals": "user_id agent_id public_id status display_payload_hash",
        "push_approval_requests": "id requested_user_id approved_user_id status expires_at",
        "identity_links": "id primary_user_id linked_user_id merged_via idempotency_key created_at",
        "absorbed_subs": "application_id sub canonical_user_id via was_anonymous occurred_at",
        "webhook_outbox": """
        id application_id event_id event_type raw_payload attempts next_attempt_at delivered_at dlq_at \
        failure_reason
        """,
        "audit_log": "id at user_id actor action request_id ip details",
    ]

    private static let unique = [
        "identities provider,sub", "devices device_uuid", "devices secret_digest", "paks digest",
        "applications client_id", "applications secret_digest", "grants application_id,sub",
        "identity_links linked_user_id", "identity_links idempotency_key", "webhook_outbox application_id,event_id",
        "users live_login_email",
    ]

    @Test func theyHaveTheirNames() throws {
        let database = try TestDatabase()
        let db = try database.connect()
        for (table, columns) in Self.tables {
            let present = try db.all(
                "SELECT column_name FROM information_schema.columns WHERE table_schema = ? AND table_name = ?",
                database.name, table
            ) { row in try row.read(String.self) }
            let missing = Set(columns.split(separator: " ").map(String.init)).subtracting(present)
            #expect(missing.isEmpty, "\(table)")
        }
    }

    @Test func whatIsUniqueIsKeptSo() throws {
        let database = try TestDatabase()
        let present = try database.connect().all(
            """
            SELECT CONCAT(table_name, ' ', GROUP_CONCAT(column_name ORDER BY seq_in_index))
            FROM information_schema.statistics WHERE table_schema = ? AND NOT non_unique
            GROUP BY table_name, index_name
            """, database.name
        ) { row in try row.read(String.self) }
        #expect(Set(Self.unique).subtracting(present).isEmpty)
    }
}
