package import MariaDB

/// Which attachments a list shows (analytics §11.3). Nil means all. A text that is not a UUID matches none.
package struct AttachmentFilter: Sendable {
    var event: UUID?
    var clientEvent: UUID?
    var issue: UUID?
    var project: UUID?
    /// Whether one of the values is not a UUID.
    private(set) var isEmpty = false

    package init(event: String? = nil, clientEvent: String? = nil, issue: String? = nil, project: String? = nil) {
        self.event = parse(event)
        self.clientEvent = parse(clientEvent)
        self.issue = parse(issue)
        self.project = parse(project)
    }

    private mutating func parse(_ text: String?) -> UUID? {
        guard let text else { return nil }
        let id = UUID(text)
        if id == nil { isEmpty = true }
        return id
    }
}

extension Analytics {
    /// The newest first. Includes reservations, excludes deleted attachments.
    package func attachments(
        of team: Team.ID, _ filter: AttachmentFilter, after cursor: Cursor<Attachment.ID>?, limit: PageLimit,
        _ connection: Connection
    ) throws -> Page<Attachment> {
        if filter.isEmpty { return Page() }
        var scope = ReadScope()
        scope.project = filter.project.map(Project.ID.init(rawValue:))
        let apps = try connection.visibleApps(of: team, in: scope).map(\.id)
        let keys = try connection.page(of: .attachments(filter, of: apps), after: cursor, limit)
        return Page(keys, .descending, try connection.attachments(keys)) { Cursor(time: $0.createdAt, id: $0.id) }
    }

    /// - Throws: `notFound` if the attachment is unknown, deleted, or belongs to another team.
    package func attachment(_ id: String, of team: Team.ID, _ connection: Connection) throws -> Attachment {
        guard let id = Attachment.ID(id), let attachment = try connection.attachment(id, of: team) else {
            throw Refusal.attachmentNotFound
        }
        return attachment
    }
}
