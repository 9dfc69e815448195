import Analytics
import Database
import HTTP
import Time

/// `GET /v1/attachments/{id}` (analytics §11.3).
@Sendable func showAttachment(_ call: Call, _ key: APIKey) throws -> Response {
    let attachment = try call.database.read { connection in
        try call.analytics.attachment(call.arguments[0], of: key.team, connection)
    }
    guard attachment.uploadedAt != nil else { return .json(.ok, AttachmentReply(attachment)) }
    let link = call.downloadLink(for: attachment.id)
    return .json(
        .ok,
        AttachmentReply(
            attachment,
            download: AttachmentReply.Download(
                url: link.url, expiresAt: link.expiresAt.iso8601Milliseconds, originalFilename: attachment.filename,
                contentType: attachment.contentType, sizeBytes: attachment.size)))
}
