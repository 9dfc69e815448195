import Analytics
import Database
import HTTP

private struct UsageReply: Encodable {
    var projectID: Project.ID
    var usedBytes: Int64
    var quotaBytes: Int64
    var userQuotaBytes: Int64
    var fileCount: Int64
    // The user that the request names.
    var userID: String?
    var userUsedBytes: Int64?
    var userFileCount: Int64?
}

/// `GET /v1/projects/{id}/attachment-usage` (analytics §11.3).
@Sendable func showAttachmentUsage(_ call: Call, _ key: APIKey) throws -> Response {
    let user = call.queryParameters["user_id"]
    return try call.database.read { connection in
        let usage = try call.analytics.attachmentUsage(of: call.arguments[0], team: key.team, connection)
        let share = try user.map {
            try call.analytics.attachmentShare(of: EndUserID(rawValue: $0), in: usage.project, connection)
        }
        return .json(
            .ok,
            UsageReply(
                projectID: usage.project, usedBytes: usage.bytes, quotaBytes: usage.quota,
                userQuotaBytes: usage.userQuota, fileCount: usage.files, userID: user, userUsedBytes: share?.bytes,
                userFileCount: share?.files))
    }
}
