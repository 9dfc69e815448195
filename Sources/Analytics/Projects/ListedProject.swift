import JSON

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
    @Nullable var attachmentUserQuota: Int64?
    @Nullable var attachmentProjectQuota: Int64?
    let claimConflict: String
    let createdAt: WireTime

    private enum CodingKeys: String, CodingKey {
        case id
        case teamID = "team_id"
        case name
        case slug
        case color
        case retentionDaysEvents = "retention_days_events"
        case retentionDaysMetrics = "retention_days_metrics"
        case retentionDaysFunnels = "retention_days_funnels"
        case effectiveRetentionDaysEvents = "effective_retention_days_events"
        case effectiveRetentionDaysMetrics = "effective_retention_days_metrics"
        case effectiveRetentionDaysFunnels = "effective_retention_days_funnels"
        case attachmentUserQuota = "attachment_user_quota_bytes"
        case attachmentProjectQuota = "attachment_project_quota_bytes"
        case effectiveAttachmentUserQuota = "effective_attachment_user_quota_bytes"
        case effectiveAttachmentProjectQuota = "effective_attachment_project_quota_bytes"
        case claimConflict = "claim_conflict"
        case createdAt = "created_at"
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(teamID, forKey: .teamID)
        try container.encode(name, forKey: .name)
        try container.encode(slug, forKey: .slug)
        try container.encode(_color, forKey: .color)
        try container.encode(_retentionDaysEvents, forKey: .retentionDaysEvents)
        try container.encode(_retentionDaysMetrics, forKey: .retentionDaysMetrics)
        try container.encode(_retentionDaysFunnels, forKey: .retentionDaysFunnels)
        try container.encode(
            retentionDaysEvents ?? EventTable.events.defaultRetentionDays, forKey: .effectiveRetentionDaysEvents)
        try container.encode(
            retentionDaysMetrics ?? EventTable.metricEvents.defaultRetentionDays, forKey: .effectiveRetentionDaysMetrics
        )
        try container.encode(
            retentionDaysFunnels ?? EventTable.funnelEvents.defaultRetentionDays, forKey: .effectiveRetentionDaysFunnels
        )
        try container.encode(_attachmentUserQuota, forKey: .attachmentUserQuota)
        try container.encode(_attachmentProjectQuota, forKey: .attachmentProjectQuota)
        let quotas = AttachmentQuota.effective(user: attachmentUserQuota, project: attachmentProjectQuota)
        try container.encode(quotas.user.limit, forKey: .effectiveAttachmentUserQuota)
        try container.encode(quotas.project.limit, forKey: .effectiveAttachmentProjectQuota)
        try container.encode(claimConflict, forKey: .claimConflict)
        try container.encode(createdAt, forKey: .createdAt)
    }
}
