import Time

/// A row that is not as the merge left it.
package struct RecordConflict: Sendable, Equatable {
    package enum Reason: String, Sendable {
        /// It is not there any more.
        case missing
        /// It belongs to somebody else.
        case moved
        /// It has another value than the merge gave it.
        case changed
        /// Somebody else has claimed the anonymous id.
        case taken
    }

    package let table: String
    /// As `merganserctl verify` names rows; with the key of a property after a space.
    package let key: String
    package let reason: Reason

    package init(table: String, key: String, reason: Reason) {
        self.table = table
        self.key = key
        self.reason = reason
    }
}

extension AnalyticsTransaction {
    /// Gives two accounts their own records again. Events that were reported before the merge are their former users', since they
    /// name them; whatever was reported after it stays with the survivor.
    ///
    /// Rows that retention and clean-up have erased since are no conflict, nor are times of activity.
    ///
    /// - Parameters:
    ///   - journal: what a merge did; each journal is undone once.
    ///   - keepChanged: whether to put back what can go back, if not all can. If a record stays a tombstone, all that it had
    ///     stays with its owner, and only the record is listed.
    /// - Returns: what cannot go back. If that is anything, nothing is written unless `keepChanged` is set.
    package func undo(_ journal: RecordsJournal, keepChanged: Bool) throws -> [RecordConflict] {
        if journal.isEmpty { return [] }
        let horizon = try lockEventHorizon()
        let records = journal.namedRecords
        _ = try lockRecords(records)
        var present = try connection.states(of: records)
        // Also those of other users.
        present.claims = try connection.claims(likeThose: journal.claims.compactMap { $0.after ?? $0.before })
        let plan = try RecordsUndo(of: journal, given: present, connection.present(journal.rows))
        guard plan.conflicts.isEmpty || keepChanged else { return plan.conflicts }
        try restore(plan)
        try recount(plan, since: horizon)
        try removeUnnamed(plan.madeTombstones)
        try removeUnnamed(plan.madeOwners)
        return plan.conflicts
    }

    /// Splits the counters of events between the records that are their own again and their former owners. Counted, because
    /// retention and imports have gone on since the merge. An index has all that is read.
    ///
    /// - Parameter horizon: locked.
    private func recount(_ plan: RecordsUndo, since horizon: Timestamp) throws {
        let counts = try connection.countEvents(of: plan.returning, since: horizon).filter {
            plan.owners[$0.key.owner] != nil
        }
        let former = counts.compactMap { counter, count in
            EventCounter(owner: plan.owners[counter.owner], timestamp: counter.month).map { ($0, count) }
        }
        try add(to: counts)
        try subtract(from: Dictionary(former, uniquingKeysWith: +))
        try removeEmptyCounters(of: Set(plan.owners.values))
    }
}

extension RecordsJournal {
    /// All that an undo may write, or point at.
    fileprivate var namedRecords: Set<Record.ID> {
        var named: Set<Record.ID?> = []
        for state in records.flatMap({ [$0.before, $0.after] }) { named.formUnion([state?.id, state?.owner]) }
        for state in apps.flatMap({ [$0.before, $0.after] }) { named.insert(state?.record) }
        for state in claims.flatMap({ [$0.before, $0.after] }) { named.insert(state?.owner) }
        return Set(named.compactMap(\.self))
    }
}

/// What an undo writes, and what it cannot put back.
struct RecordsUndo {
    private(set) var conflicts: [RecordConflict] = []
    private(set) var records: [RecordState] = []
    private(set) var rows: [OwnedRow] = []
    private(set) var apps: [Change<AppState>] = []
    private(set) var claims: [Change<ClaimState>] = []
    /// Tombstones that become live records, or point elsewhere again.
    private(set) var returning: Set<Record.ID> = []
    /// The present owners of those that become live.
    private(set) var owners: [Record.ID: Record.ID] = [:]
    /// Records that the merge made, and that go if nothing names them.
    private(set) var madeTombstones: [Record.ID] = []
    private(set) var madeOwners: [Record.ID] = []

    /// Records that stay as they are.
    private var staying: Set<Record.ID> = []
    /// Owners of those; what several records gave them together stays, too.
    private var keeping: Set<Record.ID> = []
    /// Owners of those that had claims of their own.
    private var keepingClaims: Set<Record.ID> = []
    /// The names of those that the merge made tombstones and that stay, by owner.
    private var stayingNames: [Record.ID: Set<EndUserID>] = [:]

    /// - Parameters:
    ///   - present: of the records that the journal names; with all claims of the ids that its claims are of.
    ///   - rows: what is left of the journal's.
    init(of journal: RecordsJournal, given present: RecordStates, _ rows: [OwnedRow]) throws {
        let records = Dictionary(uniqueKeysWithValues: present.records.map { ($0.id, $0) })
        addTombstones(journal, records, present.claims)
        try addOwners(journal.records, records)
        add(journal.rows, of: journal.records, present: Dictionary(uniqueKeysWithValues: rows.map { ($0.id, $0) }))
        add(journal.claims, present: Dictionary(uniqueKeysWithValues: present.claims.map { ($0.id, $0) }))
        add(journal.apps, present: Dictionary(uniqueKeysWithValues: present.apps.map { ($0.id, $0) }))
    }

    private mutating func note(_ table: String, _ key: some CustomStringConvertible, _ reason: RecordConflict.Reason) {
        conflicts.append(RecordConflict(table: table, key: key.description, reason: reason))
    }

    /// Those that the merge made tombstones, then those that it pointed elsewhere. The latter follow the former.
    private mutating func addTombstones(
        _ journal: RecordsJournal, _ present: [Record.ID: RecordState], _ claims: [ClaimState]
    ) {
        let pointing = journal.records.filter { $0.after?.owner != nil }
        for change in pointing.filter(\.isMerge) + pointing.filter({ !$0.isMerge }) {
            guard let after = change.after, let owner = after.owner else { continue }
            if let former = change.before?.owner, staying.contains(former) {
                staying.insert(after.id)
            } else if let reason = Self.reason(against: change, present, journal.claims, claims) {
                note("app_users", after.id.rawValue, reason)
                staying.insert(after.id)
            } else if let before = change.before {
                records.append(before)
                returning.insert(after.id)
                if before.owner == nil { owners[after.id] = owner }
            } else {
                madeTombstones.append(after.id)
            }
            if staying.contains(after.id) {
                keeping.insert(owner)
                if change.isMerge { stayingNames[owner, default: []].insert(after.name) }
                if !after.name.isAnonymous { keepingClaims.insert(owner) }
            }
        }
    }

    /// Why a tombstone cannot go back.
    private static func reason(
        against change: Change<RecordState>, _ present: [Record.ID: RecordState], _ made: [Change<ClaimState>],
        _ claims: [ClaimState]
    ) -> RecordConflict.Reason? {
        guard let after = change.after, let now = present[after.id] else { return .missing }
        if now.owner != after.owner { return .moved }
        // Compaction has given its rows to the owner.
        if now.mergedAt != after.mergedAt { return .changed }
        if let former = change.before?.owner, present[former] == nil { return .missing }
        guard change.isMerge, after.name.isAnonymous else { return nil }
        // A claimed id has no live record (analytics §4.4).
        let claim = made.first { change in
            change.before == nil && change.after?.anonymousID == after.name && change.after?.owner == after.owner
        }?.after
        let isTaken = claims.contains { now in
            now.anonymousID == after.name && now.project == claim?.project && now != claim
        }
        return isTaken ? .taken : nil
    }

    /// Takes from the records of survivors what others gave them. A property that has another value by now, or was deleted, is
    /// the survivor's own.
    private mutating func addOwners(_ changes: [Change<RecordState>], _ present: [Record.ID: RecordState]) throws {
        for change in changes {
            guard let after = change.after, after.owner == nil else { continue }
            guard var now = present[after.id], now.owner == nil else {
                note("app_users", after.id.rawValue, present[after.id] == nil ? .missing : .moved)
                staying.insert(after.id)
                keeping.insert(after.id)
                continue
            }
            let kept = try changes.filter { staying.contains($0.after?.id ?? after.id) && $0.after?.owner == after.id }
                .map { try Properties(stored: $0.before?.properties) }
            let old = try Properties(stored: change.before?.properties)
            let given = try Properties(stored: after.properties).entries.filter { entry in
                old[entry.key] == nil && !kept.contains { $0[entry.key] != nil }
            }
            var properties = try Properties(stored: now.properties)
            let changed = given.filter { properties[$0.key] != $0.value }
            for entry in changed { note("app_users", "\(after.id.rawValue) \(entry.key)", .changed) }
            if changed.count < given.count {
                let removed = given.filter { properties[$0.key] == $0.value }
                properties.apply(PropertyChanges(removed.map { ($0.key, "") }))
                now.properties = properties == old ? change.before?.properties : properties.stored
            }
            if let before = change.before, now.firstSeenAt == after.firstSeenAt, !keeping.contains(after.id) {
                now.firstSeenAt = before.firstSeenAt
            }
            records.append(now)
            if change.before == nil { madeOwners.append(after.id) }
        }
    }

    private mutating func add(
        _ former: [OwnedRow], of changes: [Change<RecordState>], present: [OwnedRow.ID: OwnedRow]
    ) {
        let tombstones = Dictionary(
            uniqueKeysWithValues: changes.filter(\.isMerge).compactMap(\.after).map { ($0.id, $0) })
        for row in former {
            guard let record = row.owner.flatMap({ tombstones[$0] }), !staying.contains(record.id) else { continue }
            // Clean-up has erased it.
            guard let now = present[row.id] else { continue }
            let isFrozen = now.owner == nil && now.frozenName == record.name
            if isFrozen {
                // With it, its deletion goes: of a response of which the survivor had one, too.
                rows.append(row)
            } else if let owner = now.owner, owner != record.owner {
                note(row.table.rawValue, row.key, .moved)
            } else if now.owner == nil || now.updatedAt != row.updatedAt {
                note(row.table.rawValue, row.key, .changed)
            } else {
                var row = row
                row.deletedAt = now.deletedAt
                rows.append(row)
            }
        }
    }

    /// A later claim of the same id by somebody else is no conflict: it decides before the merge's claims and before those that
    /// come back.
    private mutating func add(_ changes: [Change<ClaimState>], present: [ClaimState.ID: ClaimState]) {
        for change in changes {
            // What the merge did to the survivor's own claims, it did because of the other one's.
            if let owner = change.before?.owner, staying.contains(owner) || keepingClaims.contains(owner) { continue }
            guard let after = change.after else {
                claims.append(change)
                continue
            }
            guard let now = present[after.id] else {
                if change.before != nil { note("identity_claims", after.id, .missing) }
                continue
            }
            if change.before == nil, stayingNames[after.owner]?.contains(after.anonymousID) == true { continue }
            if now.owner != after.owner {
                note("identity_claims", after.id, .moved)
            } else if now.claimedAt != after.claimedAt {
                note("identity_claims", after.id, .changed)
            } else {
                claims.append(change)
            }
        }
    }

    /// Rows of survivors who have used the app since stay as they are.
    private mutating func add(_ changes: [Change<AppState>], present: [AppState.ID: AppState]) {
        for change in changes {
            guard let after = change.after else {
                if let before = change.before, !staying.contains(before.record) { apps.append(change) }
                continue
            }
            if keeping.contains(after.record) { continue }
            guard let now = present[after.id] else { continue }
            if var before = change.before {
                if now.firstSeenAt != after.firstSeenAt { before.firstSeenAt = now.firstSeenAt }
                if now.lastSeenAt != after.lastSeenAt { before.lastSeenAt = now.lastSeenAt }
                apps.append(Change(before: before, after: now))
            } else if now == after {
                apps.append(change)
            }
        }
    }
}
