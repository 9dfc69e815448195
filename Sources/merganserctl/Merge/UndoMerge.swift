import AccountReplies
import Accounts
import ArgumentParser
import Database
import JSON
import SignInClaims

struct UndoMerge: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Takes a merge or a swap back.",
        discussion: """
            Everything goes back that it moved, what it deleted returns, and relying parties are told. What was added since \
            stays with the survivor. If something was changed since, the command changes nothing and lists it; look at it \
            with --dry-run first, then use --keep-changed to leave it as it is. A merge can be undone for \
            MERGANSER_UNDO_DAYS, and only before an earlier one of the same accounts.
            """)

    @Argument(help: "The id that `merge list` shows: 7 of a merge, s12 of a swap.")
    var id: MergeID

    @Flag(help: "Only show what would go back, and what stands in the way.")
    var dryRun = false

    @Flag(help: "Leave what was changed since as it is, and undo the rest.")
    var keepChanged = false

    @OptionGroup var output: Output

    func run() throws {
        let accounts = try Environment.accounts()
        do {
            let undone = try Accounts.write(Environment.database(), from: .command, isRehearsal: dryRun) {
                try accounts.undoWithRecords(id, keepingChanged: keepChanged, by: .tool, in: $0)
            }
            let body = Body(undone, dryRun: dryRun)
            output.print(body, body.words(undone))
        } catch Failure.notFound {
            throw ToolError(unknown: id)
        } catch Failure.undoConflict(let conflicts) {
            throw ToolError(id, conflicts)
        } catch Failure.undoNotPossible(let obstacle) {
            throw ToolError(id, obstacle)
        }
    }

    private struct Body: Encodable {
        let id: MergeID
        let dryRun: Bool
        let primaryUserID: User.ID
        let linkedUserID: User.ID
        let restored: Int
        let kept: [UndoConflictReply]
        let unlinkedSubs: [String]

        init(_ undone: UndoneMerge, dryRun: Bool) {
            id = undone.journal.merge
            self.dryRun = dryRun
            primaryUserID = undone.journal.survivor
            linkedUserID = undone.journal.absorbed
            restored = undone.restored
            kept = undone.kept.map(UndoConflictReply.init)
            unlinkedSubs = undone.unlinkedSubs
        }

        func words(_ undone: UndoneMerge) -> String {
            let (done, subs) =
                dryRun
                ? ("would be undone; rows that would go back", "subs that would be its own again")
                : ("is undone; rows that went back", "subs that are its own again")
            var lines = ["merge \(id.text) \(done) to user \(linkedUserID.rawValue): \(restored)"]
            lines += undone.kept.map { "stays with user \(primaryUserID.rawValue): \($0.words)" }
            if !unlinkedSubs.isEmpty { lines.append("\(subs): \(unlinkedSubs.joined(separator: ", "))") }
            return lines.joined(separator: "\n")
        }
    }
}

extension ToolError {
    fileprivate init(_ id: MergeID, _ conflicts: [UndoConflict]) {
        self.init(
            .undoConflict,
            "merge \(id.text) was not undone, because something was changed since; --keep-changed leaves that as it is")
        problems = conflicts.map(\.words)
        self.conflicts = conflicts.map(UndoConflictReply.init)
    }

    fileprivate init(_ id: MergeID, _ obstacle: UndoObstacle) {
        self.init(.undoNotPossible, "merge \(id.text) was not undone: \(obstacle.words)")
        reason = obstacle.rawValue
    }
}

extension UndoConflict {
    fileprivate var words: String {
        let state =
            switch reason {
            case .missing: "is gone"
            case .moved: "belongs to somebody else now"
            case .changed: "was changed"
            case .taken: "was deleted by the merge, and something new has taken its place"
            }
        return "\(table) \(key) \(state)"
    }
}

extension UndoObstacle {
    fileprivate var words: String {
        switch self {
        case .alreadyUndone: "it was undone before"
        case .windowOver: "the time in which it could be undone is over"
        case .noJournal: "nothing was kept that would be needed to undo it"
        case .laterMerge: "one of the accounts was part of a later merge; undo that one first"
        case .accountDeleted: "one of the accounts is deleted"
        case .lastIdentity: "one of the accounts would have no way to sign in"
        }
    }
}
