import Analytics
import HTTP

private struct DeletionReply: Encodable {
    var ok = true
}

/// `DELETE /v1/attachments/{id}` (analytics §11.3).
@Sendable func deleteAttachment(_ call: Call, _ key: APIKey) throws -> Response {
    try call.analytics.deleteAttachment(call.arguments[0], by: key, call.database)
    return .json(.ok, DeletionReply())
}
