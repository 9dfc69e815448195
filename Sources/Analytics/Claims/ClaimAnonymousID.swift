package import Database

/// `POST /v1/identity/claim` (analytics §5).
package struct Claim: Sendable {
    package let anonymousID: EndUserID
    package let userID: EndUserID

    /// - Throws: the first of checks 3 to 5 that fails.
    package init(anonymousID: EndUserID, userID: EndUserID) throws(Refusal) {
        guard anonymousID.isAnonymous else {
            throw .invalid("anonymous_id must start with \"\(EndUserID.anonymousPrefix)\"")
        }
        guard !userID.isAnonymous else { throw .invalid("user_id must not start with anonymous prefix") }
        try anonymousID.check(field: "anonymous_id")
        try userID.check(field: "user_id")
        self.anonymousID = anonymousID
        self.userID = userID
    }
}

extension Analytics {
    /// Gives a user everything that is stored under an anonymous id, now and later.
    ///
    /// SDKs repeat their claim at every launch. A repeated claim costs one statement, and no transaction.
    ///
    /// - Parameter proof: of a key of the project.
    /// - Returns: how many events changed their owner.
    package func claim(_ claim: Claim, in project: Project, _ proof: KeyProof, _ database: Database) throws -> Int {
        let seen = try database.read { try $0.lookUp(claim, in: project.id, proof) }
        if seen.isHeld { return 0 }
        // If the transaction has to run again, it was because others had written since.
        var records: Set<Record.ID>? = seen.records
        return try write(database, proof: proof) { transaction in
            defer { records = nil }
            return try transaction.claim(claim, in: project.id, project.claimConflict, startingFrom: records)
        }
    }
}

extension AnalyticsTransaction {
    /// - Parameter records: those of both ids, if they were read already. Whatever has changed since is seen under the locks.
    /// - Throws: `conflict` if another user holds a claim of the id and the project refuses a second one.
    /// - Returns: how many events changed their owner.
    func claim(
        _ claim: Claim, in project: Project.ID, _ conflict: Project.ClaimConflict,
        startingFrom records: Set<Record.ID>? = nil
    ) throws -> Int {
        let names = [claim.anonymousID, claim.userID]
        var found = try lockByName(records ?? connection.records(named: names, in: project))
        // Most users are new, and become what the anonymous record was. Nobody who makes a record of that name meanwhile is
        // overlooked (`rename`).
        let becomesUser = found[claim.userID] == nil && found[claim.anonymousID].map { $0.mergedInto == nil } == true
        if !becomesUser {
            found.merge(try insertRecords(named: names.missing(in: found), in: project, NewRecord())) { $1 }
        }
        guard let anonymous = found[claim.anonymousID] else { throw TransactionMustRestart() }
        // The id's record was made after the records were read. A new user becomes what it is, so they are read again.
        if let user = found[claim.userID], user.isNew, !anonymous.isNew, anonymous.mergedInto == nil {
            throw TransactionMustRestart()
        }
        // A user whose account was absorbed is the survivor.
        let real = try found[claim.userID].map { try lockSurvivor(of: $0) }

        let standing = try standing(
            of: claim.anonymousID, in: project, by: real?.id, counting: anonymous.id)
        if standing.byUser {
            if anonymous.isNew { try removeUnused(anonymous) }
            return 0
        }
        if standing.byAnybody, conflict == .refuse {
            // Thrown, so that the placeholders are rolled back, too.
            throw Refusal.conflict("Anonymous id already claimed", reason: "already_claimed")
        }
        guard let real else {
            try freezeDeleted(of: anonymous)
            try rename(anonymous.id, to: claim.userID)
            try insertClaim(of: claim.anonymousID, by: anonymous.id, in: project, at: standing.nextTime)
            return standing.events
        }
        if anonymous.isNew { try removeUnused(anonymous) }
        let hasRows = !anonymous.isNew && anonymous.mergedInto == nil
        if hasRows { try merge(anonymous, into: real) }
        try insertClaim(of: claim.anonymousID, by: real.id, in: project, at: standing.nextTime)
        return hasRows ? standing.events : 0
    }

    /// Locks names before anything is decided about them: existing records in ascending order, with those that they point at,
    /// then placeholders for missing names.
    func lockRecords(named names: [EndUserID], in project: Project.ID) throws -> [EndUserID: Record] {
        var found = try lockByName(connection.records(named: names, in: project))
        found.merge(try insertRecords(named: names.missing(in: found), in: project, NewRecord())) { $1 }
        return found
    }

    private func lockByName(_ ids: Set<Record.ID>) throws -> [EndUserID: Record] {
        Dictionary(uniqueKeysWithValues: try lockRecords(ids).values.map { ($0.userID, $0) })
    }
}

extension [EndUserID] {
    /// In ascending order, in which they are inserted.
    fileprivate func missing(in found: [EndUserID: Record]) -> [EndUserID] { filter { found[$0] == nil }.sorted() }
}
