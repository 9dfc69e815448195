import Analytics
import HTTP
import Time

private struct ReservationReply: Encodable {
    var attachmentID: Attachment.ID
    var uploadURL: String
    var expiresAt: String
}

/// `POST /v1/ingest/attachment` (analytics §11.1).
@Sendable func reserveAttachment(_ call: Call, _ key: APIKey) throws -> Response {
    let fields = try call.fields()
    let app = try key.scopedApp()
    let id = try call.analytics.reserve(AttachmentReservation(fields), for: app, call.database)
    return .json(
        .created,
        ReservationReply(
            attachmentID: id, uploadURL: "\(call.service.front.publicURL)/v1/ingest/attachment/\(id)",
            expiresAt: (call.analytics.clock.now + .seconds(900)).iso8601Milliseconds))
}
