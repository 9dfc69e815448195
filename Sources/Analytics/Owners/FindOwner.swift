import Database
import MariaDB

// How a late event finds its owner, and so does everything else that an SDK sends under an id (analytics §4.2, §4.4).
// For example, a phone records an event under its anonymous id. The user signs in and claims that id. Only then the
// event arrives:
//
// 1. The horizon. An event from before the horizon of `events` is refused (`EventTimes`). If an event is from an
//    earlier month, the transaction locks the horizon in share mode before it locks anything else (`lockEventHorizon`).
//    Retention, which moves the horizon and drops the month, then waits for the commit.
// 2. The owner. The id belongs to the record whose user claimed it last, or else to the record with that name
//    (`lockOwners`). The records are locked first, and the claims are read again under the lock. A claim locks the same
//    records, so it either has committed before, or waits for this transaction.
// 3. The row. It stores the surrogate key of the owner. A claim never names a tombstone, so a writer follows a pointer only
//    from a real id: that of an account which another one has absorbed (`UniteRecords`).
// 4. The tombstone. Rows that were stored before the claim still name the anonymous record, which the claim has made a
//    tombstone that points at the owner. Reads follow that pointer, which is always one hop (`ReadEvents+Store`).
//    `Compaction` re-points the rows later, and removes the tombstone once no row names it.

/// Locks the owners of ids until the transaction ends. So no claim can give an id to another user before the rows that
/// this transaction writes under it are committed.
extension AnalyticsTransaction {
    /// The owner of an id, locked; never a tombstone.
    ///
    /// - Parameters:
    ///   - new: how to create a missing record; nil to create none.
    ///   - app: where the owner is seen; nil if that is not asked.
    /// - Returns: nil if there is no owner and none was created.
    package func lockOwner(
        of id: EndUserID, in project: Project.ID, orCreate new: NewRecord? = nil, seenIn app: App.ID? = nil
    ) throws -> Record? {
        var record = try lockRecord(named: id, in: project, seenIn: app)
        if !id.isAnonymous {
            record = try record ?? new.map { try insertRecord(named: id, in: project, $0) }
            return try record.map { try lockSurvivor(of: $0, seenIn: app) }
        }
        // Read under the lock: an earlier claim has committed, and a later one waits.
        if let owner = try claimant(of: id, in: project) {
            guard let owner = try lockRecord(owner, seenIn: app), owner.mergedInto == nil else {
                throw TransactionMustRestart()
            }
            return owner
        }
        if record == nil, let new {
            record = try insertRecord(named: id, in: project, new)
            if try claimant(of: id, in: project) != nil { throw TransactionMustRestart() }
        }
        return record
    }

    /// The record that a locked real one points at, locked; or else itself.
    func lockSurvivor(of record: Record, seenIn app: App.ID? = nil) throws -> Record {
        guard let survivor = record.mergedInto else { return record }
        guard let survivor = try lockRecord(survivor, seenIn: app), survivor.mergedInto == nil else {
            throw TransactionMustRestart()
        }
        return survivor
    }

    /// The owner of an id, locked; never a tombstone. A missing record is created.
    package func lockOwner(of id: EndUserID, in project: Project.ID, making new: NewRecord) throws -> Record {
        guard let owner = try lockOwner(of: id, in: project, orCreate: new) else { throw TransactionMustRestart() }
        return owner
    }

    /// The owners of several ids, locked in ascending order; none is a tombstone. Missing records are created.
    ///
    /// - Parameter app: where they are seen.
    package func lockOwners(
        of ids: Set<EndUserID>, in project: Project.ID, orCreate new: NewRecord, seenIn app: App.ID
    ) throws -> [EndUserID: Record] {
        if ids.isEmpty { return [:] }
        if ids.count == 1, let id = ids.first {
            return try lockOwner(of: id, in: project, orCreate: new, seenIn: app).map { [id: $0] } ?? [:]
        }
        let seen = try connection.lookUp(ids, in: project)
        let locked = try lockRecords(Set(seen.compactMap(\.owner) + seen.compactMap(\.pointer)), seenIn: app)
        var owners: [EndUserID: Record] = [:]
        for found in seen { owners[found.id] = found.owner.flatMap { locked[$0] } }
        for (id, record) in try insertRecords(named: ids.filter { owners[$0] == nil }.sorted(), in: project, new) {
            owners[id] = record
        }
        // As in `lockOwner`. If a record was found by its name and now has another name, it was claimed meanwhile; a pointer
        // may lead to another record.
        let unclaimed = ids.filter { owners[$0]?.userID == $0 && $0.isAnonymous }
        let isClaimed = try !unclaimed.isEmpty && connection.hasClaim(ofAnyOf: unclaimed, in: project)
        let pointers = Dictionary(
            uniqueKeysWithValues: seen.compactMap { found in found.pointer.map { (found.id, $0) } })
        let isMoved = owners.contains { id, owner in
            if let pointer = pointers[id] { return locked[pointer]?.mergedInto != owner.id }
            return id != owner.userID && (!id.isAnonymous || owner.isAnonymous)
        }
        if isClaimed || isMoved || owners.values.contains(where: { $0.mergedInto != nil }) {
            throw TransactionMustRestart()
        }
        return owners
    }

    /// Removes a record that this transaction created, if nothing was stored under it.
    package func removeUnused(_ record: Record) throws {
        precondition(record.isNew)
        try connection.executeLater("DELETE FROM app_users WHERE id = ?", record.id)
    }
}

extension Connection {
    /// The present owner of an id. Locks nothing and creates nothing.
    package func owner(of id: EndUserID, in project: Project.ID) throws -> Record? {
        try first(
            """
            SELECT u.id, u.user_id, u.is_anonymous, u.merged_into, u.properties, u.first_seen_at
            FROM app_users u
            WHERE u.id = COALESCE(
                (SELECT c.app_user_id FROM identity_claims c
                 WHERE c.project_id = ? AND c.anonymous_id = ? ORDER BY c.claimed_at DESC LIMIT 1),
                (SELECT COALESCE(n.merged_into, n.id) FROM app_users n WHERE n.project_id = ? AND n.user_id = ?))
            """, project, id, project, id
        ) { row in try Record(from: &row) }
    }
}
