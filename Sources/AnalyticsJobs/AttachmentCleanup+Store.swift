import Analytics
import MariaDB

extension Connection {
    func count(_ rows: OutlivedRows) throws -> Int {
        let sql: StaticString =
            switch rows {
            case .deleted: "SELECT COUNT(*) FROM event_attachments WHERE deleted_at < ?"
            case .pending: "SELECT COUNT(*) FROM event_attachments WHERE uploaded_at IS NULL AND created_at < ?"
            }
        return try first(sql, rows.end) { row in try row.read() } ?? 0
    }

    /// The oldest rows, at most `AttachmentCleanup.batch`.
    func outlived(_ rows: OutlivedRows) throws -> [Attachment.ID] {
        let sql: StaticString =
            switch rows {
            case .deleted:
                "SELECT id FROM event_attachments WHERE deleted_at < ? ORDER BY deleted_at LIMIT ?"
            case .pending:
                """
                SELECT id FROM event_attachments
                WHERE uploaded_at IS NULL AND created_at < ? ORDER BY created_at LIMIT ?
                """
            }
        return try all(sql, rows.end, AttachmentCleanup.batch) { row in try row.read() }
    }

    /// The digests that no row names, whatever the state of the row.
    func unnamed(_ digests: [ContentDigest]) throws -> [ContentDigest] {
        try all(
            """
            SELECT j.sha256
            FROM JSON_TABLE(?, '$[*]' COLUMNS (sha256 CHAR(64) CHARACTER SET ascii COLLATE ascii_nopad_bin PATH '$')) j
            WHERE NOT EXISTS (SELECT 1 FROM event_attachments t WHERE t.sha256 = j.sha256)
            """, list(digests.map(\.rawValue))
        ) { row in try row.read() }
    }
}

extension AnalyticsTransaction {
    /// - Returns: how many of the rows were still there and outlived.
    func remove(_ ids: [Attachment.ID], ifStill rows: OutlivedRows) throws -> Int {
        if ids.isEmpty { return 0 }
        try lockCounts(of: ids)
        // Not `executeMany`: MariaDB adds the rows that triggers change to the affected rows of a bulk execution.
        let sql: StaticString =
            switch rows {
            case .deleted:
                """
                DELETE a
                FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
                STRAIGHT_JOIN event_attachments a ON a.id = UNHEX(j.id)
                WHERE a.deleted_at < ?
                """
            case .pending:
                """
                DELETE a
                FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
                STRAIGHT_JOIN event_attachments a ON a.id = UNHEX(j.id)
                WHERE a.uploaded_at IS NULL AND a.created_at < ?
                """
            }
        return try connection.execute(sql, list(ids.map(\.rawValue.digits)), rows.end).affectedRows
    }
}
