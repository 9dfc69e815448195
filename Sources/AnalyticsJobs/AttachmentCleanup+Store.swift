import Analytics
import Database
import MariaDB
import Time

extension Connection {
    func count(_ rows: OutlivedRows) throws -> Int {
        switch rows {
        case .deleted(let time):
            try first("SELECT COUNT(*) FROM event_attachments WHERE deleted_at < ?", time) { row in try row.read() }
                ?? 0
        case .pending(let time):
            try first(
                "SELECT COUNT(*) FROM event_attachments WHERE uploaded_at IS NULL AND created_at < ?", time
            ) { row in try row.read() } ?? 0
        }
    }

    /// The next batch, oldest first.
    func outlived(_ rows: OutlivedRows) throws -> [Attachment.ID] {
        switch rows {
        case .deleted(let time):
            try all(
                "SELECT id FROM event_attachments WHERE deleted_at < ? ORDER BY deleted_at LIMIT ?", time,
                AttachmentCleanup.batch
            ) { row in try row.read() }
        case .pending(let time):
            try all(
                """
                SELECT id FROM event_attachments
                WHERE uploaded_at IS NULL AND created_at < ? ORDER BY created_at LIMIT ?
                """, time, AttachmentCleanup.batch
            ) { row in try row.read() }
        }
    }

    /// Those of the digests that no row names, whatever its state.
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
    /// - Returns: how many of the rows were still there and kept no longer.
    func remove(_ ids: [Attachment.ID], ifStill rows: OutlivedRows) throws -> Int {
        if ids.isEmpty { return 0 }
        try lockCounts(of: ids)
        let list = list(ids.map(\.rawValue.digits))
        switch rows {
        case .deleted(let time):
            return try connection.execute(
                """
                DELETE a
                FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
                STRAIGHT_JOIN event_attachments a ON a.id = UNHEX(j.id)
                WHERE a.deleted_at < ?
                """, list, time
            ).affectedRows
        case .pending(let time):
            return try connection.execute(
                """
                DELETE a
                FROM JSON_TABLE(?, '$[*]' COLUMNS (id CHAR(32) CHARACTER SET ascii PATH '$' ERROR ON ERROR)) j
                STRAIGHT_JOIN event_attachments a ON a.id = UNHEX(j.id)
                WHERE a.uploaded_at IS NULL AND a.created_at < ?
                """, list, time
            ).affectedRows
        }
    }
}
