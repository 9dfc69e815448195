import Database
import MariaDB
import Time

// How a late event finds its owner, as does everything that an SDK sends under an id (analytics §4.2, §4.4). A phone records
// an event under its anonymous id, its user signs in and claims that id, and only then the event arrives:
//
// 1. The horizon. An event from before the horizon of `events` is refused (`EventTimes`). Whoever has one from an earlier
//    month reads the horizon under a shared lock, before any other (`lockEventHorizon`): retention, which moves it and drops
//    the month, waits for the commit.
// 2. The owner. The id belongs to the record of whoever claimed it last, or else to the record of that name (`lockOwners`).
//    The records are locked, and only then the claims are read for good: a claim locks the same records, so that it has
//    either committed by now or waits for this transaction.
// 3. The row. It stores the surrogate key of that record, never a tombstone's: claims name none, so there is nothing to
//    follow when something is written.
// 4. The tombstone. Rows that came before the claim still name the anonymous record, which the claim has made a tombstone
//    that points at the owner. Reads follow that pointer, which is one hop (`ReadEvents+Store`); `Compaction` re-points the
//    rows later, and removes the tombstone when nothing names it.

/// Locks the records that ids belong to until the transaction ends, so that no claim can make them somebody else's before
/// what is written under them is there.
extension AnalyticsTransaction {
    /// The record that an id's data belongs to, locked; never a tombstone.
    ///
    /// - Parameter new: how to make a record when there is none; nil: none is made.
    /// - Returns: nil when there is none and none was made.
    package func lockOwner(
        of id: EndUserID, in project: Project.ID, orCreate new: NewRecord? = nil
    ) throws -> Record? {
        var record = try lockRecord(named: id, in: project)
        if record == nil, !id.isAnonymous {
            return try new.map { try insertRecord(named: id, in: project, $0) }
        }
        guard id.isAnonymous else { return record }
        // Only now: a claim that held the record's lock has committed, and the next one waits for ours.
        if let owner = try claimant(of: id, in: project) {
            return try lockRecord(owner)
        }
        if record == nil, let new {
            record = try insertRecord(named: id, in: project, new)
            if try claimant(of: id, in: project) != nil { throw TransactionMustRestart() }
        }
        return record
    }

    /// The record that an id's data belongs to, locked, and made when there is none; never a tombstone.
    package func lockOwner(of id: EndUserID, in project: Project.ID, making new: NewRecord) throws -> Record {
        guard let owner = try lockOwner(of: id, in: project, orCreate: new) else { throw TransactionMustRestart() }
        return owner
    }

    /// The records that the data of several ids belongs to, all locked, in ascending order; none is a tombstone. Missing
    /// ones are made.
    package func lockOwners(
        of ids: Set<EndUserID>, in project: Project.ID, orCreate new: NewRecord
    ) throws -> [EndUserID: Record] {
        if ids.isEmpty { return [:] }
        if ids.count == 1, let id = ids.first {
            return try lockOwner(of: id, in: project, orCreate: new).map { [id: $0] } ?? [:]
        }
        let seen = try connection.lookUp(ids, in: project)
        let locked = try lockRecords(Set(seen.compactMap(\.owner)))
        var owners: [EndUserID: Record] = [:]
        for (id, owner) in seen { owners[id] = owner.flatMap { locked[$0] } }
        for (id, record) in try insertRecords(named: ids.filter { owners[$0] == nil }.sorted(), in: project, new) {
            owners[id] = record
        }
        // As in `lockOwner`. A record that was found by its name and is another's by now was claimed meanwhile.
        let unclaimed = ids.filter { owners[$0]?.userID == $0 && $0.isAnonymous }
        let isClaimed = try !unclaimed.isEmpty && connection.hasClaim(ofAnyOf: unclaimed, in: project)
        let isRenamed = owners.contains { $0.key != $0.value.userID && (!$0.key.isAnonymous || $0.value.isAnonymous) }
        if isClaimed || isRenamed || owners.values.contains(where: { $0.mergedInto != nil }) {
            throw TransactionMustRestart()
        }
        return owners
    }

    /// Removes a record made by this transaction that nothing was stored under.
    package func removeUnused(_ record: Record) throws {
        precondition(record.isNew)
        try connection.execute("DELETE FROM app_users WHERE id = ?", record.id)
    }
}

extension Connection {
    /// The record that an id's data belongs to at this moment: nothing is locked or made.
    package func owner(of id: EndUserID, in project: Project.ID) throws -> Record? {
        try first(
            """
            SELECT u.id, u.user_id, u.is_anonymous, u.merged_into, u.properties
            FROM app_users u
            WHERE u.id = COALESCE(
                (SELECT c.app_user_id FROM identity_claims c
                 WHERE c.project_id = ? AND c.anonymous_id = ? ORDER BY c.claimed_at DESC LIMIT 1),
                (SELECT n.id FROM app_users n WHERE n.project_id = ? AND n.user_id = ?))
            """, project, id, project, id
        ) { row in try Record(from: &row) }
    }
}
