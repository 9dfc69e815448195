package import MariaDB

/// What a project's attachments come to, and what they may (analytics §11.3): what quotas count, reservations and those
/// included that are deleted and not yet gone.
package struct AttachmentUsage: Sendable {
    package var project: Project.ID
    package var bytes: Int64
    package var files: Int64
    package var quota: Int64
    package var userQuota: Int64
}

/// One user's part of it.
package struct AttachmentShare: Sendable {
    package var bytes: Int64
    package var files: Int64
}

extension Analytics {
    /// - Throws: `notFound` unless the project is live and the team's.
    package func attachmentUsage(
        of project: String, team: Team.ID, _ connection: Connection
    ) throws -> AttachmentUsage {
        guard let id = Project.ID(project), let usage = try connection.attachmentUsage(of: id, team: team) else {
            throw Refusal.notFound("Project not found")
        }
        return usage
    }

    /// Nobody is found by an anonymous id that was claimed.
    package func attachmentShare(
        of user: EndUserID, in project: Project.ID, _ connection: Connection
    ) throws -> AttachmentShare {
        try connection.attachmentShare(of: user, in: project)
    }
}
