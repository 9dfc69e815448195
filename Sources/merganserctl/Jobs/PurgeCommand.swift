import Accounts
import AnalyticsJobs
import ArgumentParser
import Database
import SignInClaims
import Time

struct PurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge", abstract: "Erases deleted accounts whose 30 days are over.",
        discussion: """
            Erases each account with those that it absorbed and everything that belongs to them. The audit log keeps its \
            rows, without what names the person. Erases one account in each transaction, while servers run. Then erases \
            what projects with `--accounts on` know of accounts that were purged or pruned, at most \
            \(RecordErasure.chunk) rows in each transaction. If a run is interrupted, the next one continues. A timer \
            runs it daily.
            """)

    @OptionGroup var job: Job
    @OptionGroup var output: Output

    func run() throws {
        let database = try Environment.database()
        let due = try database.read { try $0.usersDueForPurge(at: Clock.system.now) }
        if job.isDryRun {
            let ids = try due.flatMap { user in try database.read { try $0.usersPurged(with: user) } }
            output.print(DryRun(ids), job.words(DryRun(ids).words))
            return
        }
        var purged = 0
        var failures: [any Error] = []
        for user in due {
            do {
                while let erased = try Accounts.write(
                    database, from: .command, { try $0.purgeNextWithRecords(of: user) })
                {
                    purged += 1
                    output.meter("\(purged) accounts purged")
                    job.pause()
                    if erased == user { break }
                }
            } catch TransactionFailure.unreachable(let cause) {
                throw TransactionFailure.unreachable(cause)
            } catch {
                // The others do not wait for one that cannot be erased now.
                failures.append(error)
            }
        }
        // Of accounts that were pruned, too.
        let records = try RecordErasure().run(database) {
            output.meter("\(purged) accounts purged; records are erased")
            job.pause()
        }
        if let failure = failures.first ?? records.failures.first {
            var error = ToolError(
                .failed,
                failures.isEmpty
                    ? "the records of \(records.failures.count) accounts could not be erased; try again"
                    : "\(failures.count) of \(due.count) accounts could not be purged; try again")
            error.problems = [ToolError(failure).message]
            throw error
        }
        output.print(["purged": purged], "\(purged) accounts purged")
    }
}

/// What a run would delete: nothing but numbers, since names are nobody's business here.
struct DryRun: Encodable {
    let dryRun = true
    let count: Int
    let ids: [User.ID]

    init(_ ids: [User.ID]) {
        self.ids = ids
        count = ids.count
    }

    var words: String {
        (["\(count) account\(count == 1 ? "" : "s")"] + ids.map { "\($0.rawValue)" }).joined(separator: "\n")
    }
}
