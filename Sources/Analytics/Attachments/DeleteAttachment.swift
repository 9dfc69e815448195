package import Database
import MariaDB

extension Analytics {
    /// Marks an attachment of the key's project as deleted. Clean-up removes it a week later (analytics §11.3, §14.3).
    /// Until then quotas count it; otherwise a key that may write could fill the disk.
    ///
    /// - Throws: `notFound` if the attachment is unknown, already deleted, or belongs to another project.
    package func deleteAttachment(_ id: String, by key: APIKey, _ database: Database) throws {
        guard let id = Attachment.ID(id), let project = key.app?.project.id else { throw Refusal.attachmentNotFound }
        try write(database) { transaction in
            let outcome = try transaction.connection.execute(
                """
                UPDATE event_attachments SET deleted_at = ? WHERE id = ? AND project_id = ? AND deleted_at IS NULL
                """, transaction.now, id, project)
            if outcome.affectedRows == 0 { throw Refusal.attachmentNotFound }
        }
    }
}
