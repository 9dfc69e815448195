import Accounts
import AnalyticsJobs
import MariaDB
import Time

/// Unfinished work of the jobs of `merganserctl`. It shows the operator that a timer does not run.
struct Upkeep: Sendable {
    let accounts: AccountsUpkeep
    let analytics: AnalyticsUpkeep

    /// - Parameters:
    ///   - undoWindow: how long merges can be undone; nil: none can.
    ///   - inactivity: after which a timer prunes anonymous accounts; nil: never.
    init?(
        _ connection: Connection, at now: Timestamp, tombstoneGrace: Duration, undoWindow: Duration?,
        anonymousInactivity inactivity: Duration?
    ) throws {
        guard let accounts = try connection.accountsUpkeep(at: now, anonymousInactivity: inactivity),
            let analytics = try connection.analyticsUpkeep(
                at: now, grace: tombstoneGrace, undoWindow: undoWindow ?? .zero)
        else { return nil }
        self.accounts = accounts
        self.analytics = analytics
    }

    /// `task` is the name of the subcommand.
    var delays: [(task: String, delay: Duration)] {
        [
            ("gc", accounts.garbageDelay), ("compact", analytics.compactionDelay),
            ("attachments", analytics.attachmentDelay), ("purge", accounts.purgeDelay),
            ("prune", accounts.pruneDelay),
            ("dispatch", max(accounts.outboxDelay, accounts.logoutDelay)),
        ]
    }
}
