import JSON

/// One event with its project and attachments: what `GET /v1/events/:id` shows (analytics §13.1).
package struct EventDetail: Encodable, Sendable {
    struct Attachment: Encodable, Sendable {
        let id: UUID
        let originalFilename: String
        let contentType: String
        let sizeBytes: Int64
        @Nullable var uploadedAt: WireTime?

        private enum CodingKeys: String, CodingKey {
            case id
            case originalFilename = "original_filename"
            case contentType = "content_type"
            case sizeBytes = "size_bytes"
            case uploadedAt = "uploaded_at"
        }
    }

    let event: ListedEvent
    let project: Project.ID
    let attachments: [Attachment]

    private enum CodingKeys: String, CodingKey {
        case project = "project_id"
        case attachments
    }

    package func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(project, forKey: .project)
        try container.encode(attachments, forKey: .attachments)
    }
}
