import Database
import MariaDB
import Time

extension AnalyticsTransaction {
    /// Until the transaction ends, nobody else who calls this puts that content in its place or removes it.
    ///
    /// The lock is that of a row made and removed here: the next one to insert it waits. Neither of the obvious locks would
    /// do: `event_attachments` has no row to lock for a digest that nobody reserved, and GET_LOCK excludes nobody on another
    /// node of a cluster, where two transactions that write the same row cannot both commit. The clause at the end has a
    /// second one wait for an exclusive lock at once: two that share one first would deadlock.
    package func lockContent(_ digest: ContentDigest) throws {
        try connection.execute(
            "INSERT INTO attachment_locks (sha256) VALUES (?) ON DUPLICATE KEY UPDATE sha256 = VALUES (sha256)", digest)
        try connection.execute("DELETE FROM attachment_locks WHERE sha256 = ?", digest)
    }

    func lockUploadState(of id: Attachment.ID) throws -> UploadState? {
        try connection.first(
            """
            SELECT app_id, size_bytes, sha256, deleted_at IS NOT NULL, uploaded_at IS NOT NULL
            FROM event_attachments WHERE id = ? FOR UPDATE
            """, id
        ) { row in try UploadState(from: &row) }
    }

    func setUploaded(_ id: Attachment.ID) throws {
        try connection.execute("UPDATE event_attachments SET uploaded_at = ? WHERE id = ?", now, id)
    }
}

extension Connection {
    func uploadState(of id: Attachment.ID) throws -> UploadState? {
        try first(
            """
            SELECT app_id, size_bytes, sha256, deleted_at IS NOT NULL, uploaded_at IS NOT NULL
            FROM event_attachments WHERE id = ?
            """, id
        ) { row in try UploadState(from: &row) }
    }
}

extension UploadState {
    init(from row: inout Row) throws(MariaDBError) {
        (app, size, digest) = (try row.read(), try row.read(), try row.read())
        (isDeleted, isUploaded) = (try row.read(), try row.read())
    }
}
