package import Time

/// A file that belongs to an event.
package struct Attachment: Sendable {
    package typealias ID = EntityID<Attachment>

    package var id: ID
    package var project: Project.ID
    package var app: App.ID
    package var clientEventID: UUID
    package var eventID: UUID?
    package var issueID: UUID?
    package var user: EndUserID?
    package var filename: String
    package var contentType: String
    /// In bytes: the declared size, then, after the upload, the stored size.
    package var size: Int64
    package var digest: ContentDigest
    package var isDev: Bool
    package var uploadedAt: Timestamp?
    package var createdAt: Timestamp
}

extension Refusal {
    static let attachmentNotFound = Refusal.notFound("Attachment not found")
}
