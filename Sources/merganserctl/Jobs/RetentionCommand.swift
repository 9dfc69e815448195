import Analytics
import AnalyticsJobs
import ArgumentParser
import Configuration
import Database
import MariaDB
import Migrations
import Time

struct RetentionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retention", abstract: "Deletes old events, and creates partitions for future months.",
        discussion: """
            Drops whole months as partitions, and deletes other rows in transactions of at most \(Retention.chunk) \
            rows, while servers run. If a run is interrupted, the next one continues. The command changes tables, so \
            set MERGANSER_DATABASE_USER to the account that runs `migrate up`. A timer runs it daily.
            """)

    @OptionGroup var job: Job
    @OptionGroup var output: Output

    func run() throws {
        let database = Database(try Environment.databaseSettings().connection.forMigrations)
        let reports = try EventTable.allCases.map { table in
            let retention = Retention(of: table, say: output.progress)
            if job.isDryRun { return try retention.plan(database) }
            return try asOwner {
                try retention.run(database) { report in
                    output.meter("\(table.name): \(report.rowsDeleted) rows deleted")
                    job.pause()
                }
            }
        }
        output.print(
            Result(dryRun: job.isDryRun, tables: reports.map(TableBody.init)),
            job.words(reports.map(words).joined(separator: "\n")))
    }

    /// - Throws: instead of "denied", an error that says what to do.
    private func asOwner<Result>(_ work: () throws -> Result) throws -> Result {
        do { return try work() } catch let error as MariaDBError where error.code == 1142 {
            throw ToolError(
                .refused,
                "\(error.message); set MERGANSER_DATABASE_USER to the account that owns the tables, as for `migrate up`"
            )
        }
    }

    private func words(of report: Retention.Report) -> String {
        let months = report.monthsMade.map(\.description).joined(separator: " ")
        return """
            \(report.table.name)
            \(job.words([
                ("  months created", months.isEmpty ? "–" : months),
                ("  live since", report.horizon.iso8601),
                ("  dropped", report.dropped.isEmpty ? "–" : report.dropped.joined(separator: " ")),
                ("  counters deleted", "\(report.countersDeleted)"),
                ("  rows deleted", "\(report.rowsDeleted)"),
            ]))
            """
    }

    private struct Result: Encodable {
        let dryRun: Bool
        let tables: [TableBody]
    }

    private struct TableBody: Encodable {
        let table: String
        let horizon: String
        let monthsMade: [String]
        let partitionsDropped: [String]
        let countersDeleted: Int
        let rowsDeleted: Int

        init(_ report: Retention.Report) {
            table = report.table.name
            monthsMade = report.monthsMade.map(\.description)
            horizon = report.horizon.iso8601Milliseconds
            partitionsDropped = report.dropped
            countersDeleted = report.countersDeleted
            rowsDeleted = report.rowsDeleted
        }
    }
}
