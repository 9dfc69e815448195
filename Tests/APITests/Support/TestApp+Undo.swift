import API
import Database
import MariaDB
import SignInClaims
import TestSupport
import Testing

@testable import Accounts

extension TestApp {
    /// What `merganserctl merge undo` does.
    ///
    /// - Parameter node: of a cluster, on which it runs.
    @discardableResult
    func undo(
        _ merge: MergeID, keepingChanged: Bool = false, isRehearsal: Bool = false, ofNode node: Int = 0
    ) throws -> UndoneMerge {
        let accounts = service.accounts
        return try Accounts.write(
            Database(database.options(ofNode: node), statistics: statistics), at: time.clock,
            from: Origin(requestID: "operator", address: ""), isRehearsal: isRehearsal
        ) { try accounts.undoWithRecords(merge, keepingChanged: keepingChanged, by: .tool, in: $0) }
    }

    /// What an undo says in a race: `undone`, or what stood in its way.
    func undoOutcome(_ merge: MergeID, ofNode node: Int = 0) -> String {
        do {
            try undo(merge, ofNode: node)
            return "undone"
        } catch Failure.undoNotPossible(let obstacle) {
            return obstacle.rawValue
        } catch {
            return "\(error)"
        }
    }

    /// The newest swap.
    func newestSwap() throws -> MergeID {
        let id = try count("SELECT COALESCE(MAX(id), 0) FROM merge_journals WHERE identity_link_id IS NULL")
        return .swap(MergeJournal.ID(rawValue: Int64(id)))
    }
}

extension Answer {
    /// The merge that this answers.
    func merge(sourceLocation: SourceLocation = #_sourceLocation) throws -> MergeID {
        let link = try #require(self["identity_link_id"]?.integer, "\(self)", sourceLocation: sourceLocation)
        return .merge(IdentityLink.ID(rawValue: Int64(link)))
    }
}
