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
        let (anonymous, real) = try lockBoth(claim, in: project)
        let isClaimed = try connection.isClaimed(claim.anonymousID, in: project, by: real.id)
        if isClaimed.byUser {
            if anonymous.isNew { try removeUnused(anonymous) }
            return 0
        }
        if isClaimed.byAnybody, conflict == .refuse {
            // Thrown, so that the placeholders are rolled back, too.
            throw Refusal.conflict("Anonymous id already claimed", reason: "already_claimed")
        }
        let owner: Record.ID
        var count = 0
        if anonymous.isNew || anonymous.mergedInto != nil {
            if anonymous.isNew { try removeUnused(anonymous) }
            owner = real.id
        } else {
            count = try connection.liveEventCount(of: anonymous.id)
            try freezeDeleted(of: anonymous)
            if real.isNew {
                try removeUnused(real)
                try rename(anonymous.id, to: claim.userID)
                owner = anonymous.id
            } else {
                try merge(anonymous, into: real)
                owner = real.id
            }
        }
        try insertClaim(of: claim.anonymousID, by: owner, in: project)
        return count
    }

    /// A user whose account was absorbed is the survivor.
    private func lockBoth(_ claim: Claim, in project: Project.ID) throws -> (anonymous: Record, real: Record) {
        let found = try lockRecords(named: [claim.anonymousID, claim.userID], in: project)
        guard let anonymous = found[claim.anonymousID], let real = found[claim.userID] else {
            throw TransactionMustRestart()
        }
        return (anonymous, try lockSurvivor(of: real))
    }

    /// Locks names before anything is decided about them: existing records in ascending order, with those that they point at,
    /// then placeholders for missing names.
    func lockRecords(named names: [EndUserID], in project: Project.ID) throws -> [EndUserID: Record] {
        let records = try lockRecords(try connection.records(named: names, in: project))
        var found = Dictionary(uniqueKeysWithValues: records.values.map { ($0.userID, $0) })
        let missing = names.filter { found[$0] == nil }.sorted()
        found.merge(try insertRecords(named: missing, in: project, NewRecord())) { $1 }
        return found
    }
}
