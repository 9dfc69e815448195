import Accounts
import ArgumentParser

struct DevSeed: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seed", abstract: "Gives a user grants and pending approvals that all differ.")

    @Option(help: "The user's id.")
    var user: Int64

    @Option(parsing: .upToNextOption, help: ArgumentHelp("An application to connect.", valueName: "client-id"))
    var application: [String] = []

    @Option(help: "How many agent approvals to create, for a new agent.")
    var agentApprovals = 0

    @Option(help: "How many push approvals to create.")
    var pushApprovals = 0

    @OptionGroup var output: Output

    func validate() throws {
        for (option, count) in [("--agent-approvals", agentApprovals), ("--push-approvals", pushApprovals)]
        where !(0...10_000).contains(count) {
            throw ValidationError("\(option) is \(count); pass a number from 0 to 10000.")
        }
    }

    func run() throws {
        try Environment.requireDevelopment()
        let seed = DevelopmentSeed(
            user: User.ID(rawValue: user), clientIDs: application, agentApprovals: agentApprovals,
            pushApprovals: pushApprovals)
        let serverKey = try Environment.serverKey()
        let grants = try Accounts.write(Environment.database(), from: .command) {
            try $0.seed(seed, serverKey: serverKey)
        }
        output.print(
            Result(user: seed.user, grants: grants, agentApprovals: agentApprovals, pushApprovals: pushApprovals),
            "user \(user) got \(grants) grants, \(agentApprovals) agent approvals, \(pushApprovals) push approvals")
    }

    private struct Result: Encodable {
        let user: User.ID
        let grants: Int
        let agentApprovals: Int
        let pushApprovals: Int
    }
}
