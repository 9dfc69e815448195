import Analytics
import JSON
import Time

struct ProjectBody: Encodable {
    let id: Project.ID
    let teamID: Team.ID
    let name: String
    let slug: String
    @Nullable var color: String?
    let claimConflict: String
    @Nullable var retentionDaysEvents: Int64?
    @Nullable var retentionDaysMetrics: Int64?
    @Nullable var retentionDaysFunnels: Int64?
    @Nullable var attachmentUserQuotaBytes: Int64?
    @Nullable var attachmentProjectQuotaBytes: Int64?
    let accounts: Bool
    let purgeEvents: Bool
    let createdAt: String

    init(_ project: ProjectSummary) {
        let settings = project.settings
        id = project.id
        teamID = project.team
        name = settings.name
        slug = settings.slug
        color = settings.color
        claimConflict = settings.claimConflict.rawValue
        retentionDaysEvents = settings.retentionDays.events
        retentionDaysMetrics = settings.retentionDays.metrics
        retentionDaysFunnels = settings.retentionDays.funnels
        attachmentUserQuotaBytes = settings.attachmentUserQuota
        attachmentProjectQuotaBytes = settings.attachmentProjectQuota
        accounts = settings.usesAccounts
        purgeEvents = settings.purgesEvents
        createdAt = project.createdAt.iso8601Milliseconds
    }

    var words: String {
        """
        project         \(id)
        team            \(teamID)
        name            \(name)
        slug            \(slug)
        color           \(color ?? "none")
        claim conflict  \(claimConflict)
        retention       events \(days(retentionDaysEvents)), metrics \(days(retentionDaysMetrics)), \
        funnels \(days(retentionDaysFunnels))
        quotas          \(bytes(attachmentUserQuotaBytes)) for each user's attachments, \
        \(bytes(attachmentProjectQuotaBytes)) for all
        accounts        \(accounts ? "on" : "off")
        purge events    \(purgeEvents ? "on" : "off")
        created         \(createdAt)
        """
    }

    private func days(_ count: Int64?) -> String { count.map { "\($0) days" } ?? "by default" }
    private func bytes(_ count: Int64?) -> String { count.map { "\($0) bytes" } ?? "the default" }
}
