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
    /// SDKs repeat their claim at every launch. A repeated claim costs one indexed read.
    ///
    /// - Parameter proof: of a key of the project.
    /// - Returns: how many events changed their owner.
    package func claim(_ claim: Claim, in project: Project, _ proof: KeyProof, _ database: Database) throws -> Int {
        if try database.read({ try $0.isHeld(claim, in: project.id, proof) }) { return 0 }
        return try write(database, proof: proof) { try $0.claim(claim, in: project.id, project.claimConflict) }
    }
}

extension AnalyticsTransaction {
    /// - Throws: `conflict` if another user holds a claim of the id and the project refuses a second one.
    /// - Returns: how many events changed their owner.
    func claim(_ claim: Claim, in project: Project.ID, _ conflict: Project.ClaimConflict) throws -> Int {
        let names = [claim.anonymousID, claim.userID]
        var found = try lockExisting(names, in: project)
        // Most users are new, and become what the anonymous record was. Nobody who makes a record of that name meanwhile is
        // overlooked (`rename`).
        let becomesUser = found[claim.userID] == nil && found[claim.anonymousID].map { $0.mergedInto == nil } == true
        if !becomesUser {
            found.merge(try insertRecords(named: names.missing(in: found), in: project, NewRecord())) { $1 }
        }
        guard let anonymous = found[claim.anonymousID] else { throw TransactionMustRestart() }
        // A user whose account was absorbed is the survivor.
        let real = try found[claim.userID].map { try lockSurvivor(of: $0) }

        let claims = try connection.claims(
            of: claim.anonymousID, in: project, by: real?.id, counting: anonymous.id)
        if claims.byUser {
            if anonymous.isNew { try removeUnused(anonymous) }
            return 0
        }
        if claims.byAnybody, conflict == .refuse {
            // Thrown, so that the placeholders are rolled back, too.
            throw Refusal.conflict("Anonymous id already claimed", reason: "already_claimed")
        }
        guard let real else {
            try freezeDeleted(of: anonymous)
            try rename(anonymous.id, to: claim.userID)
            try insertClaim(of: claim.anonymousID, by: anonymous.id, in: project)
            return claims.events
        }
        if anonymous.isNew { try removeUnused(anonymous) }
        let hasRows = !anonymous.isNew && anonymous.mergedInto == nil
        if hasRows {
            try freezeDeleted(of: anonymous)
            try merge(anonymous, into: real)
        }
        try insertClaim(of: claim.anonymousID, by: real.id, in: project)
        return hasRows ? claims.events : 0
    }

    /// Locks names before anything is decided about them: existing records in ascending order, with those that they point at,
    /// then placeholders for missing names.
    func lockRecords(named names: [EndUserID], in project: Project.ID) throws -> [EndUserID: Record] {
        var found = try lockExisting(names, in: project)
        found.merge(try insertRecords(named: names.missing(in: found), in: project, NewRecord())) { $1 }
        return found
    }

    private func lockExisting(_ names: [EndUserID], in project: Project.ID) throws -> [EndUserID: Record] {
        let records = try lockRecords(try connection.records(named: names, in: project))
        return Dictionary(uniqueKeysWithValues: records.values.map { ($0.userID, $0) })
    }
}

extension [EndUserID] {
    /// In ascending order, in which they are inserted.
    fileprivate func missing(in found: [EndUserID: Record]) -> [EndUserID] { filter { found[$0] == nil }.sorted() }
}
