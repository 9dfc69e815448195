import Accounts
import AnalyticsJobs
import MariaDB
import Time

/// Unfinished work of the jobs of `merganserctl`. It shows the operator that a timer does not run.
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

    /// `task` is the name of the subcommand.
    var delays: [(task: String, delay: Duration)] {
        [
            ("gc", accounts.garbageDelay), ("compact", analytics.compactionDelay),
            ("attachments", analytics.attachmentDelay),
            ("dispatch", max(accounts.outboxDelay, accounts.logoutDelay)),
        ]
    }
}
