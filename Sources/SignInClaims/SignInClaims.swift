package import Accounts
package import Analytics
import Database
import JSON
import MariaDB
package import Time

extension AccountsTransaction {
    /// Keeps the anonymous id that a request carries with its device, and claims all ids of the device for its owner, if the
    /// owner is identified. Without a device the id is claimed and not kept.
    ///
    /// Who can name an anonymous id can claim it, as with a client key.
    ///
    /// - Parameters:
    ///   - carried: nil if the request carries none.
    ///   - user: locked.
    ///   - device: the user's, read under that lock.
    ///   - isStart: whether the app only starts again. Then refusals are audited of the id that the device names for the first
    ///     time, and not of all at every start.
    /// - Returns: what became of each id in each project that takes part.
    package func claim(
        _ carried: EndUserID?, for user: User, on device: Device.ID?, isStart: Bool
    ) throws -> [AccountClaim] {
        if carried == nil, user.anonymous { return [] }
        let (ids, isNew) = try device.map { try keep(carried, on: $0) } ?? ([carried].compactMap { $0 }, true)
        if user.anonymous { return [] }
        return try claim(ids, for: user.id) { isNew && $0 == carried || !isStart }
    }

    /// Keeps the anonymous id that a request carries with its device.
    ///
    /// - Returns: all ids of the device, and whether that one is new there.
    @discardableResult
    package func keep(_ carried: EndUserID?, on device: Device.ID) throws -> (ids: [EndUserID], isNew: Bool) {
        var ids = try connection.anonymousIDs(on: device).map(EndUserID.init(rawValue:))
        guard let carried, !ids.contains(carried) else { return (ids, false) }
        ids.removeFirst(try makeRoom(among: ids.count, on: device))
        try keep(carried.rawValue, on: device)
        return (ids + [carried], true)
    }

    /// Claims the ids of all devices of a user who is identified by now.
    package func claimKept(by user: User.ID) throws { _ = try claim(kept(by: user), for: user) { _ in true } }

    /// Makes the records of two accounts one, after one was swapped or merged into the other. If the transaction keeps a journal
    /// of that, it gets what this and `claim` did to records (accounts Stage 6).
    ///
    /// - Parameters:
    ///   - carried: an id that the request carries, which `claim` keeps and claims.
    ///   - claim: claims what the survivor's devices kept. Its ids are those; none if no project takes part.
    package func uniteRecords(
        of absorbed: User.ID, into survivor: User.ID, carrying carried: EndUserID? = nil,
        _ claim: ([EndUserID]) throws -> Void
    ) throws {
        let journal = try joined {
            try $0.unite(
                EndUserID(absorbed), into: EndUserID(survivor),
                claiming: { try Set(kept(by: survivor) + [carried].compactMap(\.self)).sorted() },
                keepsJournal: keepsJournal, claim)
        }
        if let journal, !journal.isEmpty { try keepInJournal(records: journal.json()) }
    }

    /// The same after a merge; then claims the ids of the survivor's devices, some of which were the other one's.
    package func uniteRecords(by link: IdentityLink) throws {
        try uniteRecords(of: link.linked, into: link.primary) { ids in
            _ = try claim(ids, for: link.primary) { _ in true }
        }
    }

    private func kept(by user: User.ID) throws -> [EndUserID] {
        Set(try connection.anonymousIDs(onDevicesOf: user).map(EndUserID.init(rawValue:))).sorted()
    }

    /// `purgeNext`; what projects know of the account is erased by the next `RecordErasure`.
    package func purgeNextWithRecords(of user: User.ID) throws -> User.ID? {
        let erased = try purgeNext(of: user)
        if let erased { try requestErasure(of: erased) }
        return erased
    }

    /// `pruneAnonymousUser`, with the same.
    package func pruneWithRecords(_ user: User.ID, inactiveSince limit: Timestamp) throws -> Bool {
        let isPruned = try pruneAnonymousUser(user, inactiveSince: limit)
        if isPruned { try requestErasure(of: user) }
        return isPruned
    }

    /// Lets `RecordErasure` erase what projects know of a user.
    private func requestErasure(of user: User.ID) throws {
        try joined { try $0.requestErasure(of: EndUserID(user)) }
    }

    private func claim(
        _ ids: [EndUserID], for user: User.ID, auditing isAudited: (EndUserID) -> Bool
    ) throws -> [AccountClaim] {
        let claims = try joined { try $0.claim(ids, for: EndUserID(user)) }
        for claim in claims where claim.isRefused && isAudited(claim.anonymousID) {
            auditRefusedClaim(in: claim.project.description, of: user, because: claim.outcome.rawValue)
        }
        return claims
    }

    /// Runs analytics' rules in this transaction, with what they would send together with COMMIT: only here their duplicates repeat
    /// it.
    fileprivate func joined<T>(_ rule: (AnalyticsTransaction) throws -> T) throws -> T {
        do {
            let result = try rule(.joining(connection, at: now))
            try connection.runWaitingStatements()
            return result
        } catch {
            guard let duplicate = Analytics.retryPolicy.racyDuplicate(error) else { throw error }
            throw TransactionMustRestart(because: duplicate)
        }
    }
}

extension Accounts {
    /// Takes a merge or swap back, with what it did to records.
    ///
    /// - Throws: as `undo`.
    package func undoWithRecords(
        _ merge: MergeID, keepingChanged: Bool, by changer: Operator, in transaction: AccountsTransaction
    ) throws -> UndoneMerge {
        try undo(merge, keepingChanged: keepingChanged, by: changer, in: transaction) { journal in
            let journal = try RecordsJournal(json: journal)
            return try transaction.joined { try $0.undo(journal, keepChanged: keepingChanged) }.map(UndoConflict.init)
        }
    }
}

extension UndoConflict {
    fileprivate init(_ conflict: RecordConflict) {
        let reason: Reason =
            switch conflict.reason {
            case .missing: .missing
            case .moved: .moved
            case .changed: .changed
            case .taken: .taken
            }
        self.init(table: conflict.table, key: conflict.key, reason: reason)
    }
}

extension EndUserID {
    /// As projects name the user of an account: a decimal number.
    init(_ user: User.ID) { self.init(rawValue: String(user.rawValue)) }
}
