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
