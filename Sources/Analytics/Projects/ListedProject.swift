import JSON
import MariaDB

/// A project as reads show it, in the members and the order of analytics §13.3.
package struct ListedProject: Encodable, Sendable {
    let id: Project.ID
    let teamID: Team.ID
    let name: String
    let slug: String
    @Nullable var color: String?
    @Nullable var retentionDaysEvents: Int?
    @Nullable var retentionDaysMetrics: Int?
    @Nullable var retentionDaysFunnels: Int?
    let effectiveRetentionDaysEvents: Int
    let effectiveRetentionDaysMetrics: Int
    let effectiveRetentionDaysFunnels: Int
    @Nullable var attachmentUserQuotaBytes: Int64?
    @Nullable var attachmentProjectQuotaBytes: Int64?
    let effectiveAttachmentUserQuotaBytes: Int64
    let effectiveAttachmentProjectQuotaBytes: Int64
    let claimConflict: String
    let createdAt: WireTime

    /// From columns in the order of the members, but for the effective ones, which follow from the others.
    init(from row: inout Row) throws {
        id = try row.read()
        teamID = try row.read()
        name = try row.read()
        slug = try row.read()
        color = try row.read()
        let events = try row.read(Int?.self)
        let metrics = try row.read(Int?.self)
        let funnels = try row.read(Int?.self)
        (retentionDaysEvents, retentionDaysMetrics, retentionDaysFunnels) = (events, metrics, funnels)
        effectiveRetentionDaysEvents = events ?? EventTable.events.defaultRetentionDays
        effectiveRetentionDaysMetrics = metrics ?? EventTable.metricEvents.defaultRetentionDays
        effectiveRetentionDaysFunnels = funnels ?? EventTable.funnelEvents.defaultRetentionDays
        let (user, project) = (try row.read(Int64?.self), try row.read(Int64?.self))
        (attachmentUserQuotaBytes, attachmentProjectQuotaBytes) = (user, project)
        let quotas = AttachmentQuota.effective(user: user, project: project)
        effectiveAttachmentUserQuotaBytes = quotas.user.limit
        effectiveAttachmentProjectQuotaBytes = quotas.project.limit
        claimConflict = try row.read()
        createdAt = try row.read()
    }
}
