import Analytics
import HTTP

private struct UsageReply: Encodable {
    var project: Project.ID
    var used: Int64
    var quota: Int64
    var userQuota: Int64
    var files: Int64
    // Of the user asked for.
    var user: String?
    var userUsed: Int64?
    var userFiles: Int64?

    private enum CodingKeys: String, CodingKey {
        case project = "project_id"
        case used = "used_bytes"
        case quota = "quota_bytes"
        case userQuota = "user_quota_bytes"
        case files = "file_count"
        case user = "user_id"
        case userUsed = "user_used_bytes"
        case userFiles = "user_file_count"
    }
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
                project: usage.project, used: usage.bytes, quota: usage.quota, userQuota: usage.userQuota,
                files: usage.files, user: user, userUsed: share?.bytes, userFiles: share?.files))
    }
}
