import Accounts
import AnalyticsJobs
import MariaDB
import Time

/// What the jobs of `merganserctl` have left undone: how the server's operator hears of a timer that does not run.
struct Upkeep: Sendable {
    let accounts: AccountsUpkeep
    let analytics: AnalyticsUpkeep

    init?(_ connection: Connection, at now: Timestamp, tombstoneGrace: Duration) throws {
        guard let accounts = try connection.accountsUpkeep(at: now),
            let analytics = try connection.analyticsUpkeep(at: now, grace: tombstoneGrace)
        else { return nil }
        self.accounts = accounts
        self.analytics = analytics
    }

    /// By the names of the subcommands.
    var delays: [(task: String, delay: Duration)] {
        [
            ("gc", accounts.garbageDelay), ("compact", analytics.compactionDelay),
            ("attachments", analytics.attachmentDelay), ("dispatch", accounts.outboxDelay),
        ]
    }
}
