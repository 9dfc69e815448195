import JSON
import MariaDB
import Text

/// One undo under way: first what it compares, then what it writes, in the order of accounts §0.4.
struct MergeUndo {
    private let journal: MergeJournal
    private let contents: JournalContents
    private let transaction: AccountsTransaction
    private let serverKey: ServerKey
    var conflicts: [UndoConflict] = []
    /// The rows that go back, and those that return.
    private var returning: [JournaledTable: [JournaledRow]] = [:]
    private var reappearing: [JournaledTable: [JournaledRow]] = [:]
    private var refilled: [JournalContents.FilledValue] = []
    /// Rows that stay where they are, or stay deleted, by id: what belongs to them does, too.
    private var withheld: [JournaledTable: Set<Int64>] = [:]
    /// Grants that go back although they were changed.
    private var changedGrants: [JournaledRow] = []
    private var restored = 0

    private var a: User.ID { journal.absorbed }
    private var b: User.ID { journal.survivor }
    private var connection: Connection { transaction.connection }

    init(
        _ journal: MergeJournal, _ contents: JournalContents, in current: AccountsTransaction,
        _ serverKey: ServerKey
    ) {
        self.journal = journal
        self.contents = contents
        transaction = current
        self.serverKey = serverKey
    }

    // MARK: Comparing

    /// Compares every row of the journal with the present.
    mutating func compare(survivor: User?) throws {
        for table in JournaledTable.allCases {
            if let rows = contents.moved[table] { try compareMoved(rows, in: table) }
            if let rows = contents.deleted[table] { try compareDeleted(rows, in: table) }
        }
        for value in contents.filled {
            let present =
                switch value.column {
                case .name: survivor?.name
                case .contactEmail: survivor?.contactEmail
                case .role: survivor?.role.rawValue
                }
            // Byte for byte, as what is stored.
            if present.map({ Array($0.utf8) }) == value.after.map({ Array($0.utf8) }) {
                refilled.append(value)
            } else if value.column != .role {
                conflicts.append(
                    UndoConflict(table: "users", key: "\(b.rawValue) \(value.column.rawValue)", reason: .changed))
            }
        }
    }

    private mutating func compareMoved(_ rows: [JournaledRow], in table: JournaledTable) throws {
        let present = try transaction.present(rows, in: table)
        for row in rows {
            if isWithheld(row, in: table) {
                withhold(row, table)
                continue
            }
            guard let found = present[row.key] else {
                if !table.definition.isErasable { add(.missing, row, table) }
                withhold(row, table)
                continue
            }
            // The history of a request names no user if the request was deleted.
            if table == .agentApprovalHistory {
                returning[table, default: []].append(row)
                continue
            }
            // An application whose owner a swap deleted has none.
            let owner = table == .applications && journal.link == nil ? nil : b
            if table.definition.owner != nil, found.owner != owner {
                add(.moved, row, table)
                withhold(row, table)
                continue
            }
            if try !isSame(row.after ?? row.image, found.image, in: table) {
                add(.changed, row, table)
                // A grant is never left behind: its sub is the other account's.
                guard table == .grants else {
                    withhold(row, table)
                    continue
                }
                changedGrants.append(row)
            }
            returning[table, default: []].append(row)
        }
    }

    /// Whether a row has the values that the merge left, as far as they count.
    private func isSame(_ journaled: String, _ present: String, in table: JournaledTable) throws -> Bool {
        if journaled.utf8.elementsEqual(present.utf8) { return true }
        let journaled = try JSONValue(json: Array(journaled.utf8))
        guard case .object(let present) = try JSONValue(json: Array(present.utf8)) else { return false }
        return present.members.allSatisfy { member in
            guard let former = journaled[member.name] else { return false }
            // Time alone ends a request.
            if table == .agentApprovals, member.name == "status", former.string == "pending" {
                return ["pending", "expired"].contains(member.value.string)
            }
            return former == member.value
        }
    }

    private mutating func compareDeleted(_ rows: [JournaledRow], in table: JournaledTable) throws {
        let taken = try transaction.takenKeys(of: rows, in: table)
        let nobody = table == .pushApprovals ? try transaction.absentApprovers(of: rows) : []
        for var row in rows {
            if isWithheld(row, in: table) {
                withhold(row, table)
                continue
            }
            if taken.contains(row.key) {
                switch table {
                case .users:
                    add(.taken, row, table)
                    try row.replace { name, value in
                        switch name {
                        case "login_email": .null
                        case "login_email_authoritative": .integer(0)
                        default: value
                        }
                    }
                // A phone registers its token again, and an agent repeats no request for so long.
                case .pushTokens, .agentApprovalKeys: continue
                default:
                    add(.taken, row, table)
                    withhold(row, table)
                    continue
                }
            }
            // As their deletion would have had it.
            if nobody.contains(row.key), try row.value("approved_user_id") != .integer(a.rawValue) {
                try row.replace { name, value in name == "approved_user_id" ? .null : value }
            }
            reappearing[table, default: []].append(row)
        }
    }

    private func isWithheld(_ row: JournaledRow, in table: JournaledTable) -> Bool {
        guard let parent = row.parent, let table = table.definition.parentTable else { return false }
        return withheld[table]?.contains(parent) ?? false
    }

    private mutating func withhold(_ row: JournaledRow, _ table: JournaledTable) {
        if let id = row.id { withheld[table, default: []].insert(id) }
    }

    private mutating func add(_ reason: UndoConflict.Reason, _ row: JournaledRow, _ table: JournaledTable) {
        conflicts.append(UndoConflict(table: table.rawValue, key: row.key, reason: reason))
    }

    // MARK: Writing

    /// Gives rows back, and inserts those that were deleted.
    mutating func write(by actor: AuditEntry.Actor) throws {
        try lockApplications()
        try reinsert(.users)
        try connection.execute("UPDATE users SET version = version + 1 WHERE id IN (?, ?)", a, b)
        try giveBack(.applications)
        try refill(by: actor)
        for table in [JournaledTable.identities, .devices] {
            try giveBack(table)
            try reinsert(table)
        }
        try endKeys(by: actor)
        for table in [JournaledTable.deviceAnonymousIDs, .pushTokens] { try reinsert(table) }
        for table in [JournaledTable.loginEvents, .grants] {
            try giveBack(table)
            try reinsert(table)
        }
        try transaction.takeBackConsent(to: changedGrants)
        try endWhatBeganSince(by: actor)
        for table in [JournaledTable.refreshFamilies, .refreshTokens] { try reinsert(table) }
        try transaction.revokeReturned(reappearing[.refreshFamilies] ?? [])
        for table in [JournaledTable.agents, .agentApprovals, .agentApprovalKeys] {
            try giveBack(table)
            try reinsert(table)
        }
        try giveBackHistories()
        // The survivor does not decide for somebody else's agents.
        try transaction.cancelApprovals(
            of: (returning[.agents] ?? []).compactMap(\.id).map(Agent.ID.init(rawValue:)), waitingFor: b)
        try transaction.giveBackPushApprovals(returning[.pushApprovals] ?? [])
        restored += returning[.pushApprovals]?.count ?? 0
        try reinsert(.pushApprovals)
        if journal.link == nil { try transaction.deleteAbsorbedSubs(of: journal, try subs()) }
        try giveBack(.absorbedSubs)
        try reinsert(.absorbedSubs)
        if let link = journal.link { try transaction.delete(link) }
        try giveBack(.identityLinks)
        try reinsert(.identityLinks)
    }

    /// Those that go back, those of the grants, and those that are told.
    private func lockApplications() throws {
        let owned = (returning[.applications] ?? []).compactMap(\.id).map(Application.ID.init(rawValue:))
        var others = Set(try transaction.liveSubs(of: b).map(\.application))
        for table in [JournaledTable.grants, .devices] {
            for row in reappearing[table] ?? [] {
                if case .integer(let id)? = try row.value("application_id") {
                    others.insert(Application.ID(rawValue: id))
                }
            }
        }
        try transaction.lockApplications(Set(owned), and: others)
    }

    private mutating func giveBack(_ table: JournaledTable) throws {
        guard let rows = returning[table], let owner = table.definition.owner else { return }
        try transaction.assign(rows, in: table, to: a, owner)
        if table == .devices {
            try transaction.forgetPushTokens(on: rows.compactMap(\.id).map(Device.ID.init(rawValue:)))
            if journal.link == nil { try transaction.bindAgain(rows) }
        }
        restored += rows.count
    }

    private mutating func giveBackHistories() throws {
        let returned = reappearing[.agentApprovals] ?? []
        restored += try transaction.giveBackHistories(of: (returning[.agentApprovals] ?? []) + returned, to: a)
        restored += try transaction.giveBackErasedHistories(returning[.agentApprovalHistory] ?? [], to: a)
        try transaction.continueHistories(of: returned)
    }

    private mutating func reinsert(_ table: JournaledTable) throws {
        guard let rows = reappearing[table] else { return }
        for var batch in rows.batches {
            for index in batch.indices { try seal(&batch[index], of: table) }
            try transaction.insert(batch, into: table, of: a)
        }
        restored += rows.count
    }

    private func seal(_ row: inout JournaledRow, of table: JournaledTable) throws {
        guard let sealed = table.sealed, try row.value(sealed.column)?.string != nil else { return }
        let identity = try sealed.identity(row)
        try row.replace { name, value in
            guard name == sealed.column, let identity, let bytes = value.bytes else { return value }
            return .string(serverKey.seal(bytes, for: identity).hexadecimal)
        }
    }

    /// The survivor's own values.
    private func refill(by actor: AuditEntry.Actor) throws {
        for value in refilled {
            switch value.column {
            case .name:
                try connection.execute("UPDATE users SET name = ? WHERE id = ?", value.before, b)
            case .contactEmail:
                try connection.execute("UPDATE users SET contact_email = ? WHERE id = ?", value.before, b)
            case .role:
                // Who still owns applications needs the role.
                let outcome = try connection.execute(
                    """
                    UPDATE users SET role = ?
                    WHERE id = ? AND NOT EXISTS (SELECT 1 FROM applications WHERE owner_user_id = ?)
                    """, value.before, b, b)
                guard outcome.affectedRows > 0, let before = value.before, let after = value.after else { continue }
                transaction.audit(
                    .userRoleChanged, user: b, actor: actor, ["from": .string(after), "to": .string(before)])
            }
        }
    }

    /// The survivor's keys on devices that go back.
    private func endKeys(by actor: AuditEntry.Actor) throws {
        guard let devices = returning[.devices] else { return }
        let count = try transaction.revokePAKs(of: b, on: devices)
        guard count > 0 else { return }
        transaction.audit(
            .pakRevoked, user: b, actor: actor, ["count": .integer(Int64(count)), "reason": .string("unlinked")])
    }

    /// Codes and families that were made since under a grant that goes back.
    private func endWhatBeganSince(by actor: AuditEntry.Actor) throws {
        guard let grants = returning[.grants] else { return }
        try transaction.revokeCodes(of: grants)
        var told: Set<String> = []
        for family in try transaction.revokeFamilies(of: grants, newerThan: contents.newestFamily) {
            transaction.emit(LogoutNotice(application: family.application, sub: family.sub, sid: family.sid))
            guard told.insert("\(family.application.rawValue) \(family.sub)").inserted else { continue }
            transaction.audit(
                .tokensRevoked, user: a, actor: actor,
                ["sub": .string(family.sub), "reason": .string(RevocationReason.operator.rawValue)])
            transaction.emit(
                .tokenRevoked(
                    of: family.sub,
                    Event.Notice(application: family.application, canonical: a, reason: .operator)))
        }
    }

    /// All subs of the grants in the journal, which a swap wrote down as absorbed.
    private func subs() throws -> Set<String> {
        Set(
            try [contents.moved, contents.deleted].flatMap { $0[.grants] ?? [] }
                .compactMap { try $0.value("sub")?.string })
    }

    /// Nobody could sign in to such an account any more: somebody has removed the identities that the other one brought, or
    /// those of before.
    func leavesSomebodyOut() throws -> Bool {
        guard contents.moved[.identities] != nil else { return false }
        return try [a, b].contains { try connection.isIdentifiedWithoutIdentity($0) }
    }

    // MARK: Telling

    /// Tells the relying parties that know either account.
    func finish(by actor: AuditEntry.Actor) throws -> UndoneMerge {
        let own = try transaction.liveSubs(of: a)
        let known = Dictionary(uniqueKeysWithValues: own.map { ($0.application, $0.subs) })
        let applications = Set(try transaction.liveSubs(of: b).map(\.application)).union(known.keys)
        for application in applications.sorted() {
            transaction.emit(
                .userUnlinked(a, from: b, journal.link, knownAs: known[application] ?? [], at: application))
        }
        for user in [b, a] {
            transaction.audit(
                .userUnlinked, user: user, actor: actor,
                [
                    "merge": .string(journal.merge.text), "survivor_user_id": .integer(b.rawValue),
                    "unlinked_user_id": .integer(a.rawValue), "restored": .integer(Int64(restored)),
                    "kept": .integer(Int64(conflicts.count)),
                ])
        }
        var journal = journal
        journal.undoneAt = transaction.now
        return UndoneMerge(
            journal: journal, restored: restored, kept: conflicts, unlinkedSubs: Set(own.flatMap(\.subs)).sorted())
    }
}
