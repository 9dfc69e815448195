import AnalyticsJobs
import ArgumentParser
import JSON

struct CompactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Moves events of claimed anonymous users to their owners.",
        discussion: """
            After a claim, events stay with the anonymous record, which points to its owner. This command gives the \
            events to the owner and removes the anonymous record, no sooner than MERGANSER_TOMBSTONE_GRACE_SECONDS \
            after the claim; in projects whose users are the accounts', no sooner than MERGANSER_UNDO_DAYS after it. \
            Reads return the same before and after. Changes at most \(Compaction.chunk) rows in each \
            transaction, while servers run. If a run is interrupted, the next one continues. A timer runs it hourly.
            """)

    @OptionGroup var job: Job
    @OptionGroup var output: Output

    func run() throws {
        let compaction = Compaction(
            grace: try Environment.tombstoneGrace(), undoWindow: try Environment.undoWindow() ?? .zero)
        let database = try Environment.database()
        let report =
            if job.isDryRun {
                try compaction.plan(database)
            } else {
                try compaction.run(database) { report in
                    output.meter("\(report.rows) rows re-pointed, \(report.removed) records removed")
                    job.pause()
                }
            }
        output.print(Result(report, isDryRun: job.isDryRun), job.words(words(of: report)))
    }

    private func words(of report: Compaction.Report) -> String {
        let lines = report.repointed.sorted { $0.key.table < $1.key.table }.map { ($0.key.table, "\($0.value)") }
        return job.words(lines + [("records merged", "\(report.folded)"), ("records removed", "\(report.removed)")])
    }

    private struct Result: Encodable {
        let dryRun: Bool
        /// Rows by table.
        let repointed: JSONValue
        let folded: Int
        let removed: Int

        init(_ report: Compaction.Report, isDryRun: Bool) {
            dryRun = isDryRun
            let rows = report.repointed.sorted { $0.key.table < $1.key.table }
            repointed = .object(JSONObject(rows.map { ($0.key.table, .integer(Int64($0.value))) }))
            folded = report.folded
            removed = report.removed
        }
    }
}

extension Compaction.Report {
    fileprivate var rows: Int { repointed.values.reduce(0, +) }
}
