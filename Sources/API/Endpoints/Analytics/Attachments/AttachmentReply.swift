import Analytics
import JSON
import Time

/// An attachment as reads show it (analytics §11.3).
struct AttachmentReply: Encodable {
    struct Download: Encodable {
        var url: String
        var expiresAt: String
        var originalFilename: String
        var contentType: String
        var sizeBytes: Int64
    }

    private var id: Attachment.ID
    private var projectID: Project.ID
    private var appID: App.ID
    private var eventClientID: UUID
    @Nullable private var eventID: UUID?
    @Nullable private var issueID: UUID?
    @Nullable private var userID: String?
    private var originalFilename: String
    private var contentType: String
    private var sizeBytes: Int64
    private var sha256: String
    private var isDev: Bool
    @Nullable private var uploadedAt: String?
    private var createdAt: String
    /// Absent in lists, and until the file is uploaded.
    private var downloadURL: Download?

    init(_ attachment: Attachment, download: Download? = nil) {
        id = attachment.id
        projectID = attachment.project
        appID = attachment.app
        eventClientID = attachment.clientEventID
        eventID = attachment.eventID
        issueID = attachment.issueID
        userID = attachment.user?.rawValue
        originalFilename = attachment.filename
        contentType = attachment.contentType
        sizeBytes = attachment.size
        sha256 = attachment.digest.rawValue
        isDev = attachment.isDev
        uploadedAt = attachment.uploadedAt?.iso8601Milliseconds
        createdAt = attachment.createdAt.iso8601Milliseconds
        downloadURL = download
    }
}
