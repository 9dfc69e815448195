import Analytics
import ArgumentParser
import Migrations

/// The settings of a project that have a default; `none` restores it.
struct ProjectOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The project's color, for programs that show projects.", valueName: "#rrggbb|none"))
    var color: Setting<String>?

    @Option(
        help: ArgumentHelp(
            "Whether a second claim of an id gets later events (latest) or is refused (refuse). (initially: latest)",
            valueName: "latest|refuse"))
    var claimConflict: Project.ClaimConflict?

    @Option(help: ArgumentHelp("How long events are kept. (initially: 120)", valueName: "days|none"))
    var retentionDaysEvents: Setting<Int64>?

    @Option(help: ArgumentHelp("How long metrics are kept. (initially: 365)", valueName: "days|none"))
    var retentionDaysMetrics: Setting<Int64>?

    @Option(help: ArgumentHelp("How long funnel steps are kept. (initially: 365)", valueName: "days|none"))
    var retentionDaysFunnels: Setting<Int64>?

    @Option(help: ArgumentHelp("Quota for all attachments of one user. (initially: 250 MiB)", valueName: "bytes|none"))
    var attachmentUserQuotaBytes: Setting<Int64>?

    @Option(help: ArgumentHelp("Quota for all attachments of the project. (initially: 5 GiB)", valueName: "bytes|none"))
    var attachmentProjectQuotaBytes: Setting<Int64>?

    @Option(
        help: ArgumentHelp(
            "Whether real user ids are those of this server's accounts, so that signing in claims. (initially: off)",
            valueName: "on|off"))
    var accounts: Toggle?

    @Option(
        help: ArgumentHelp(
            "Whether the purge of an account deletes its events, or makes them nobody's. (initially: off)",
            valueName: "on|off"))
    var purgeEvents: Toggle?

    var isEmpty: Bool {
        color == nil && claimConflict == nil && retentionDaysEvents == nil && retentionDaysMetrics == nil
            && retentionDaysFunnels == nil && attachmentUserQuotaBytes == nil && attachmentProjectQuotaBytes == nil
            && accounts == nil && purgeEvents == nil
    }

    /// A release that does not know `--accounts` would store what is reported under an absorbed account's id under that id.
    func endCompatibility(_ transaction: AnalyticsTransaction) throws {
        if accounts == .on { try SchemaCheck.endCompatibility(before: 32, transaction.connection) }
    }

    func apply(to settings: inout ProjectSettings) {
        if let color { settings.color = color.value }
        if let claimConflict { settings.claimConflict = claimConflict }
        if let retentionDaysEvents { settings.retentionDays.events = retentionDaysEvents.value }
        if let retentionDaysMetrics { settings.retentionDays.metrics = retentionDaysMetrics.value }
        if let retentionDaysFunnels { settings.retentionDays.funnels = retentionDaysFunnels.value }
        if let attachmentUserQuotaBytes { settings.attachmentUserQuota = attachmentUserQuotaBytes.value }
        if let attachmentProjectQuotaBytes { settings.attachmentProjectQuota = attachmentProjectQuotaBytes.value }
        if let accounts { settings.usesAccounts = accounts == .on }
        if let purgeEvents { settings.purgesEvents = purgeEvents == .on }
    }
}

/// The value of an option that switches something.
enum Toggle: String, ExpressibleByArgument, CaseIterable {
    case on, off
}

extension Project.ClaimConflict: ExpressibleByArgument {}
