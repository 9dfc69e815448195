import Accounts
import ArgumentParser
import Database
import JSON
import SignInClaims

struct MergeUsers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Merges two accounts of one person.",
        discussion: """
            The survivor gets everything that the other account has; the other account stays as a row that leads to the \
            survivor. `merge undo` takes a merge back for MERGANSER_UNDO_DAYS, yet look at both accounts with `user show` \
            first. `--dry-run` prints what would move, and a plan; with `--plan` the command refuses if anything else would \
            move. Repeating a merge changes nothing.
            """)

    @Argument(help: "The id of the account that survives. It must not be anonymous.")
    var survivor: Int64

    @Argument(help: "The id of the account that is absorbed.")
    var absorbed: Int64

    @Option(help: ArgumentHelp("The device that both accounts were used on; one of them has it.", valueName: "uuid"))
    var device: String?

    @Option(help: ArgumentHelp("An e-mail address that providers verified for both accounts.", valueName: "address"))
    var email: String?

    @Option(help: "The plan of a dry run: refuse if anything else would move.")
    var plan: String?

    @Flag(help: "Only show what would move.")
    var dryRun = false

    @OptionGroup var output: Output

    func validate() throws {
        if (device == nil) == (email == nil) { throw ValidationError("give either --device or --email") }
        if let device, DeviceUUID(device) == nil { throw ValidationError("--device is no UUID") }
    }

    func run() throws {
        let evidence = try evidence()
        let (absorbed, survivor) = (User.ID(rawValue: absorbed), User.ID(rawValue: survivor))
        let precondition = plan.map { Precondition.plan(anyOf: [$0]) } ?? Precondition.none
        do {
            if dryRun {
                let preview = try Environment.database().snapshot {
                    try $0.previewMergeUsers(absorbed, into: survivor, for: evidence, precondition)
                }
                let body = PreviewBody(preview)
                output.print(body, body.words)
            } else {
                let accounts = try Environment.accounts()
                let merge = try Accounts.write(Environment.database(), from: .command) {
                    let merge = try accounts.mergeUsers(absorbed, into: survivor, for: evidence, precondition, in: $0)
                    if !merge.isRepeated { try $0.uniteRecords(by: merge.link) }
                    return merge
                }
                let body = MergeBody(merge)
                output.print(body, body.words)
            }
        } catch Failure.planChanged {
            throw ToolError(.refused, "other rows would move now than the plan says; look at a new --dry-run")
        }
    }

    private func evidence() throws -> OperatorEvidence {
        if let uuid = device.flatMap(DeviceUUID.init) { return .device(uuid) }
        guard let email else { throw ToolError(.usage, "give either --device or --email") }
        return .email(email)
    }
}

private struct PreviewBody: Encodable {
    struct Moves: Encodable {
        let identities: Int
        let grants: Int
        let devices: Int
        let agents: Int
        let agentApprovals: Int
        let notifications: Int
    }

    let dryRun = true
    let plan: String
    let moves: Moves

    init(_ preview: MergePreview) {
        let counts = preview.counts
        plan = preview.plan
        moves = Moves(
            identities: counts.identities, grants: counts.grants, devices: counts.devices, agents: counts.agents,
            agentApprovals: counts.agentApprovals, notifications: counts.notifications)
    }

    var words: String {
        """
        identities       \(moves.identities)
        grants           \(moves.grants)
        devices          \(moves.devices)
        agents           \(moves.agents)
        agent approvals  \(moves.agentApprovals)
        notifications    \(moves.notifications)
        plan             \(plan)
        """
    }
}

private struct MergeBody: Encodable {
    let identityLinkID: IdentityLink.ID
    let primaryUserID: User.ID
    let linkedUserID: User.ID
    let mergedVia: String
    let repeated: Bool

    init(_ merge: OperatorMerge) {
        identityLinkID = merge.link.id
        primaryUserID = merge.link.primary
        linkedUserID = merge.link.linked
        mergedVia = merge.link.method.rawValue
        repeated = merge.isRepeated
    }

    var words: String {
        "user \(linkedUserID.rawValue) \(repeated ? "had already been merged" : "is merged") into user "
            + "\(primaryUserID.rawValue) (\(mergedVia), link \(identityLinkID.rawValue))"
    }
}
