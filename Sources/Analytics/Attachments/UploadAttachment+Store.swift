import MariaDB

extension AnalyticsTransaction {
    /// Locks a content until the transaction ends. Meanwhile nobody else who takes this lock stores the content or
    /// removes it.
    ///
    /// The lock is a row that is inserted and deleted here; the next transaction that inserts it waits. Two simpler
    /// locks do not work. `event_attachments` may have no row of the digest to lock. `GET_LOCK` does not reach other
    /// nodes of a cluster, where two transactions that write the same row cannot both commit. `ON DUPLICATE KEY` makes
    /// a second transaction wait for an exclusive lock at once; two that first share a lock would deadlock.
    package func lockContent(_ digest: ContentDigest) throws {
        try connection.execute(
            "INSERT INTO attachment_locks (sha256) VALUES (?) ON DUPLICATE KEY UPDATE sha256 = VALUES (sha256)", digest)
        try connection.execute("DELETE FROM attachment_locks WHERE sha256 = ?", digest)
    }

    func lockUploadState(of id: Attachment.ID) throws -> UploadState? {
        try connection.first(
            """
            SELECT app_id, size_bytes, sha256, deleted_at IS NOT NULL, uploaded_at IS NOT NULL, event_id IS NOT NULL,
                   event_client_id
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
            SELECT app_id, size_bytes, sha256, deleted_at IS NOT NULL, uploaded_at IS NOT NULL, event_id IS NOT NULL,
                   event_client_id
            FROM event_attachments WHERE id = ?
            """, id
        ) { row in try UploadState(from: &row) }
    }
}

extension UploadState {
    init(from row: inout Row) throws(MariaDBError) {
        (app, size, digest) = (try row.read(), try row.read(), try row.read())
        (isDeleted, isUploaded) = (try row.read(), try row.read())
        (isLinked, clientEventID) = (try row.read(), try row.read())
    }
}
