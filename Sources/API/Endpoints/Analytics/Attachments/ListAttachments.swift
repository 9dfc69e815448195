import Analytics
import Database
import HTTP
import JSON

private struct AttachmentsReply: Encodable {
    var attachments: [AttachmentReply]
    @Nullable var cursor: String?
    var hasMore: Bool
}

/// `GET /v1/attachments` (analytics §11.3).
@Sendable func listAttachments(_ call: Call, _ key: APIKey) throws -> Response {
    let query = call.queryParameters
    let filter = AttachmentFilter(
        event: query["event_id"], clientEvent: query["event_client_id"], issue: query["issue_id"],
        project: query["project_id"])
    let page = try call.database.snapshot { connection in
        try call.analytics.attachments(
            of: key.team, filter, after: query.cursor(), limit: query.limit,
            connection)
    }
    return .json(
        .ok,
        AttachmentsReply(
            attachments: page.rows.map { AttachmentReply($0) }, cursor: page.cursor, hasMore: page.hasMore))
}
