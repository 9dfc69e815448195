import Analytics
import JSON

/// An attachment as reads show it (analytics §11.3).
struct AttachmentReply: Encodable {
    struct Download: Encodable {
        var url: String
        var expiresAt: String
        var filename: String
        var contentType: String
        var size: Int64

        private enum CodingKeys: String, CodingKey {
            case url
            case expiresAt = "expires_at"
            case filename = "original_filename"
            case contentType = "content_type"
            case size = "size_bytes"
        }
    }

    private var id: Attachment.ID
    private var project: Project.ID
    private var app: App.ID
    private var clientEventID: UUID
    @Nullable private var eventID: UUID?
    @Nullable private var issueID: UUID?
    @Nullable private var user: String?
    private var filename: String
    private var contentType: String
    private var size: Int64
    private var digest: String
    private var isDev: Bool
    @Nullable private var uploadedAt: String?
    private var createdAt: String
    /// Left out of lists, and while there is nothing to download.
    private var download: Download?

    init(_ attachment: Attachment, download: Download? = nil) {
        id = attachment.id
        project = attachment.project
        app = attachment.app
        clientEventID = attachment.clientEventID
        eventID = attachment.eventID
        issueID = attachment.issueID
        user = attachment.user?.rawValue
        filename = attachment.filename
        contentType = attachment.contentType
        size = attachment.size
        digest = attachment.digest.rawValue
        isDev = attachment.isDev
        uploadedAt = attachment.uploadedAt?.iso8601Milliseconds
        createdAt = attachment.createdAt.iso8601Milliseconds
        self.download = download
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case project = "project_id"
        case app = "app_id"
        case clientEventID = "event_client_id"
        case eventID = "event_id"
        case issueID = "issue_id"
        case user = "user_id"
        case filename = "original_filename"
        case contentType = "content_type"
        case size = "size_bytes"
        case digest = "sha256"
        case isDev = "is_dev"
        case uploadedAt = "uploaded_at"
        case createdAt = "created_at"
        case download = "download_url"
    }
}
