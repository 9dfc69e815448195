import Accounts
import ArgumentParser
import Database
import SignInClaims
import Time

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune", abstract: "Deletes anonymous accounts that nobody has used for a long time.",
        discussion: """
            An account counts as used whenever a device starts with it, calls the API, or a token is issued or refreshed \
            for it; its age does not matter. Deleted accounts are gone at once. Applications that were connected are \
            told. Deletes one account in each transaction, while servers run. If a run is interrupted, the next one \
            continues. A timer runs it daily, with MERGANSER_ANONYMOUS_INACTIVE_DAYS.
            """)

    @Option(
        help: ArgumentHelp(
            "Delete accounts that were not used for so many days; MERGANSER_ANONYMOUS_INACTIVE_DAYS by default.",
            valueName: "days"))
    var inactiveDays: Int?

    @OptionGroup var job: Job
    @OptionGroup var output: Output

    func validate() throws {
        if let inactiveDays, !(1...36_500).contains(inactiveDays) {
            throw ValidationError("--inactive-days must be 1 to 36500")
        }
    }

    func run() throws {
        let setting = try Environment.anonymousInactivity()
        guard let inactivity = inactiveDays.map({ Duration.seconds($0 * 86_400) }) ?? setting else {
            output.print(
                ["pruned": 0], "nothing is pruned: neither --inactive-days nor MERGANSER_ANONYMOUS_INACTIVE_DAYS is set"
            )
            return
        }
        let limit = Clock.system.now - inactivity
        let database = try Environment.database()
        var pruned: [User.ID] = []
        var failures: [any Error] = []
        var last: InactiveUser?
        repeat {
            let batch = try database.read { connection in
                try connection.inactiveAnonymousUsers(since: limit, after: last, atMost: Garbage.batch)
            }
            for user in batch {
                if job.isDryRun {
                    pruned.append(user.id)
                    continue
                }
                do {
                    let isPruned = try Accounts.write(
                        database, from: .command, { try $0.pruneWithRecords(user.id, inactiveSince: limit) })
                    guard isPruned else { continue }
                    pruned.append(user.id)
                    output.meter("\(pruned.count) accounts pruned")
                    job.pause()
                } catch TransactionFailure.unreachable(let cause) {
                    throw TransactionFailure.unreachable(cause)
                } catch {
                    // The others do not wait for one that cannot be erased now.
                    failures.append(error)
                }
            }
            last = batch.last
        } while last != nil
        if let failure = failures.first {
            let all = pruned.count + failures.count
            var error = ToolError(.failed, "\(failures.count) of \(all) accounts could not be pruned; try again")
            error.problems = [ToolError(failure).message]
            throw error
        }
        if job.isDryRun {
            output.print(DryRun(pruned), job.words(DryRun(pruned).words))
        } else {
            output.print(["pruned": pruned.count], "\(pruned.count) accounts pruned")
        }
    }
}
