package import MariaDB

/// The quotas of a project, and how much of them its attachments use (analytics §11.3). Reservations count, and so do
/// deleted attachments until clean-up removes them.
package struct AttachmentUsage: Sendable {
    package var project: Project.ID
    package var bytes: Int64
    package var files: Int64
    package var quota: Int64
    package var userQuota: Int64
}

/// How much of the quota one user's attachments use.
package struct AttachmentShare: Sendable {
    package var bytes: Int64
    package var files: Int64
}

extension Analytics {
    /// - Throws: `notFound` unless the project is live and belongs to the team.
    package func attachmentUsage(
        of project: String, team: Team.ID, _ connection: Connection
    ) throws -> AttachmentUsage {
        guard let id = Project.ID(project), let usage = try connection.attachmentUsage(of: id, team: team) else {
            throw Refusal.notFound("Project not found")
        }
        return usage
    }

    /// A claimed anonymous id names nobody, so its share is zero.
    package func attachmentShare(
        of user: EndUserID, in project: Project.ID, _ connection: Connection
    ) throws -> AttachmentShare {
        try connection.attachmentShare(of: user, in: project)
    }
}
