import Analytics
package import Database
import MariaDB
package import Time

/// Erases what projects whose users are the accounts' know of purged accounts (accounts Stage 5): records with their
/// properties and claims, contact data in feedback, and whose attachments, responses and events they were. Events become
/// nobody's, or are deleted where the project says so.
package struct RecordErasure: Sendable {
    /// The most rows that one transaction changes, but for the record itself with its apps and counters.
    package static let chunk = 1000

    private let clock: Clock

    package init(clock: Clock = .system) { self.clock = clock }

    /// Runs until nothing of the accounts is left. If a run is interrupted, the next one continues.
    ///
    /// - Parameter step: called after each transaction. If it throws, the run ends.
    /// - Returns: how many times an account was erased from a project, and what kept others from it.
    @discardableResult
    package func run(_ database: Database, step: () throws -> Void = {}) throws -> (erased: Int, failures: [any Error])
    {
        var (erased, last) = (0, Int64(0))
        var failures: [any Error] = []
        while let request = try database.read({ try $0.erasureRequest(after: last) }) {
            last = request.id
            do {
                while try !Analytics.write(database, at: clock, { try $0.eraseRows(of: request) }) { try step() }
                erased += 1
            } catch TransactionFailure.unreachable(let cause) {
                throw TransactionFailure.unreachable(cause)
            } catch let failure as MariaDBError {
                // The others do not wait for one that cannot be erased now.
                failures.append(failure)
            } catch let failure as TransactionFailure {
                failures.append(failure)
            }
            try step()
        }
        return (erased, failures)
    }
}

/// An account whose records in a project are to be erased.
struct ErasureRequest {
    let id: Int64
    let project: Project.ID
    let user: EndUserID
    let deletesEvents: Bool
}

extension AnalyticsTransaction {
    /// Erases at most `RecordErasure.chunk` rows of a user, then the record when no row names it any more, then the request.
    ///
    /// Whoever stores a record's id holds the record's lock until it commits (analytics §4.4). So under that lock, every row that
    /// names it is visible, and no new one can appear.
    ///
    /// - Returns: whether nothing is left.
    fileprivate func eraseRows(of request: ErasureRequest) throws -> Bool {
        guard let found = try connection.erasedRecords(of: request) else {
            // Rows that were frozen under the account's own id name no record.
            guard try releaseFrozen(as: [request.user], in: request.project) < RecordErasure.chunk else { return false }
            try end(request)
            return true
        }
        let locked = try lockRecords(Set([found.record, found.tombstone].compactMap { $0 }))
        guard let record = locked[found.record], record.userID == request.user,
            let target = locked[found.tombstone ?? found.record],
            target.id == record.id || target.mergedInto == record.id
        else { throw TransactionMustRestart() }
        var room = RecordErasure.chunk
        for table in EventTable.allCases {
            let rows = try connection.events(of: target.id, in: table, atMost: room)
            if table == .events {
                let owner = record.mergedInto ?? record.id
                let counters = rows.compactMap { EventCounter(owner: owner, timestamp: $0.timestamp) }
                try subtract(from: Dictionary(counters.map { ($0, 1) }, uniquingKeysWith: +))
            }
            try request.deletesEvents ? _ = delete(rows, from: table) : disown(rows, in: table)
            room -= rows.count
            if room == 0 { return false }
        }
        room -= try disownOthers(of: target.id, deletingAttachments: request.deletesEvents, atMost: room)
        if room <= 0 { return false }
        // Before the claims and names that lead to them are gone.
        let names = try [target.userID] + connection.claimedIDs(of: target.id)
        guard try releaseFrozen(as: names, in: request.project) < RecordErasure.chunk else { return false }
        try removeRecord(target.id)
        return false
    }
}
