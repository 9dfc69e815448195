import JSON

/// One event with its project and its attachments: the answer of `GET /v1/events/:id` (analytics §13.1).
package struct EventDetail: Encodable, Sendable {
    struct Attachment: Encodable, Sendable {
        let id: UUID
        let originalFilename: String
        let contentType: String
        let sizeBytes: Int64
        @Nullable var uploadedAt: WireTime?
    }

    let event: ListedEvent
    let projectID: Project.ID
    let attachments: [Attachment]

    private enum CodingKeys: CodingKey {
        case projectID, attachments
    }

    package func encode(to encoder: any Encoder) throws {
        try event.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(projectID, forKey: .projectID)
        try container.encode(attachments, forKey: .attachments)
    }
}
