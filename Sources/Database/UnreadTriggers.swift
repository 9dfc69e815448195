package import MariaDB

/// A node of a cluster that aborts a statement while it opens a table with triggers may keep the table open without them
/// (MariaDB 10.11.19). From then on, every statement that writes through that open table fails with 1064, until the table
/// is opened anew.
package enum UnreadTriggers {
    /// All tables that have triggers.
    package static let tables: [StaticString] = [
        "absorbed_subs", "agent_approval_history", "api_keys", "apps", "audit_log", "devices", "event_attachments",
        "identities", "identity_links", "projects", "revoked_access_tokens", "webhook_outbox",
    ]

    /// If the error is that one, makes this server open anew the tables that the failed statement names.
    ///
    /// InnoDB does not repair tables: of REPAIR only the closing of the table remains, which needs no privilege but
    /// SELECT and INSERT, unlike FLUSH. LOCAL: other nodes have opened their own.
    package static func forget(after error: MariaDBError, on connection: Connection) throws(MariaDBError) {
        guard error.isUnreadTrigger else { return }
        // A trigger of the one writes the other.
        let isNested = error.sql.contains("event_attachments")
        for table in tables
        where error.sql.contains(table.description) || isNested && table.description == "projects" {
            try connection.query("REPAIR LOCAL TABLE \(table)")
        }
    }
}
