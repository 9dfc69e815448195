package import MariaDB

/// Which attachments a list shows (analytics §11.3). Nil: all; a text that is no UUID matches none.
package struct AttachmentFilter: Sendable {
    var event: UUID?
    var clientEvent: UUID?
    var issue: UUID?
    var project: UUID?
    /// Whether a value is such a text.
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
    /// The newest first, reservations too; deleted ones are left out.
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

    /// - Throws: `notFound` for one that is unknown, deleted or another team's.
    package func attachment(_ id: String, of team: Team.ID, _ connection: Connection) throws -> Attachment {
        guard let id = Attachment.ID(id), let attachment = try connection.attachment(id, of: team) else {
            throw Refusal.attachmentNotFound
        }
        return attachment
    }
}
