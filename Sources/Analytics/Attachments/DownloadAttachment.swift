package import Files
package import MariaDB
package import Time

/// The file that a download link leads to.
package struct AttachmentDownload: Sendable {
    package let filename: String
    package let contentType: String
    /// The file's location in the store.
    package let location: String
    package let content: StoredFile
}

extension Analytics {
    var downloadLinks: DownloadLinks { DownloadLinks(secret: settings.attachments.secret) }

    /// The token for the download link of an uploaded attachment, and when it expires.
    package func downloadToken(for id: Attachment.ID) -> (text: String, expiry: Timestamp) {
        downloadLinks.token(for: id, at: clock.now)
    }

    /// The file that a download link leads to.
    ///
    /// - Parameter token: the link's token.
    /// - Throws: `unauthorized` if the token is invalid or has expired, `notFound` if the attachment no longer exists.
    package func download(_ token: String?, _ connection: Connection) throws -> AttachmentDownload {
        let id = try downloadLinks.verify(token, at: clock.now)
        guard let found = try connection.storedAttachment(id) else { throw Refusal.attachmentNotFound }
        guard let content = try attachmentStore.open(found.digest) else {
            throw MissingContent(digest: found.digest)
        }
        return AttachmentDownload(
            filename: found.filename, contentType: found.contentType,
            location: attachmentStore.location(of: found.digest), content: content)
    }
}

/// A row names a file that does not exist: somebody removed it, or the setting names another folder.
struct MissingContent: Error, CustomStringConvertible {
    let digest: ContentDigest

    var description: String {
        "an attachment names the file \(digest.rawValue), which does not exist; check MERGANSER_ATTACHMENT_DIR"
    }
}

extension Connection {
    fileprivate func storedAttachment(
        _ id: Attachment.ID
    ) throws -> (filename: String, contentType: String, digest: ContentDigest)? {
        try first(
            """
            SELECT original_filename, content_type, sha256
            FROM event_attachments WHERE id = ? AND deleted_at IS NULL AND uploaded_at IS NOT NULL
            """, id
        ) { row in (try row.read(), try row.read(), try row.read()) }
    }
}
