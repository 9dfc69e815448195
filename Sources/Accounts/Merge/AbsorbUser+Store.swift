import MariaDB

extension Connection {
    /// Those of two users that a merge absorbed.
    func absorbedUsers(among one: User.ID, _ other: User.ID?) throws -> Set<User.ID> {
        Set(
            try all(
                "SELECT linked_user_id FROM identity_links WHERE linked_user_id IN (?, ?)", one, other ?? one
            ) { row in try row.read(User.ID.self) })
    }
}

/// The statements of a merge, each for all rows at once, in the order of accounts §0.4. Both users are locked.
extension AccountsTransaction {
    /// Locks the applications that get another owner and, shared, those that are told of the merge: one pass over all, since
    /// each merge of two may tell what the other moves.
    ///
    /// - Parameter owner: locked, so that nobody else gives it applications or takes them away.
    func lockApplications(of owner: User.ID, and told: [Application.ID]) throws {
        let owned = Set(
            try connection.all("SELECT id FROM applications WHERE owner_user_id = ?", owner) { row in
                try row.read(Application.ID.self)
            })
        // Those that are told are locked with their events.
        if !owned.isEmpty { try lockApplications(owned, and: told) }
    }

    /// Locks applications that get another owner and, shared, others.
    func lockApplications(_ owned: Set<Application.ID>, and told: some Sequence<Application.ID>) throws {
        var rest = owned.union(told).sorted()[...]
        while let first = rest.first {
            let isOwned = owned.contains(first)
            let run = rest.prefix { owned.contains($0) == isOwned }
            try connection.lockApplications(run, exclusively: isOwned)
            rest = rest.dropFirst(run.count)
        }
    }

    func moveApplications(from a: User.ID, to b: User.ID) throws -> Int {
        try connection.execute("UPDATE applications SET owner_user_id = ? WHERE owner_user_id = ?", b, a).affectedRows
    }

    func writeFilled(_ user: User) throws {
        try connection.execute(
            "UPDATE users SET version = version + 1, name = ?, contact_email = ?, role = ? WHERE id = ?", user.name,
            user.contactEmail, user.role.rawValue, user.id)
    }

    func moveIdentities(from a: User.ID, to b: User.ID) throws -> Int {
        try connection.execute("UPDATE identities SET user_id = ? WHERE user_id = ?", b, a).affectedRows
    }

    /// The devices keep their secrets, but not their push tokens.
    func moveDevices(from a: User.ID, to b: User.ID) throws -> Int {
        try forgetPushTokens(of: a)
        return try connection.execute("UPDATE devices SET user_id = ?, live_paks = NULL WHERE user_id = ?", b, a)
            .affectedRows
    }

    func voidTickets(of user: User.ID) throws {
        try connection.execute("UPDATE swap_tickets SET used_at = ? WHERE user_id = ? AND used_at IS NULL", now, user)
    }

    func moveLoginHistory(from a: User.ID, to b: User.ID) throws -> Int {
        try connection.execute("UPDATE login_events SET user_id = ? WHERE user_id = ?", b, a).affectedRows
    }

    /// The subs of a user's live grants by application, the newest last; applications ascend.
    func liveSubs(of user: User.ID) throws -> [(application: Application.ID, subs: [String])] {
        var found: [(application: Application.ID, subs: [String])] = []
        for (application, sub) in try connection.all(
            """
            SELECT application_id, sub FROM grants WHERE user_id = ? AND revoked_at IS NULL ORDER BY application_id, id
            """, user, read: { row in (try row.read(Application.ID.self), try row.read(String.self)) })
        {
            if found.last?.application != application { found.append((application, [])) }
            found[found.count - 1].subs.append(sub)
        }
        return found
    }

    /// All of them, even if the other has one for the same application: each keeps its sub and tokens, and its codes but
    /// those of the sessions that end.
    func moveGrants(from a: User.ID, to b: User.ID) throws -> Int {
        try connection.execute("UPDATE grants SET user_id = ? WHERE user_id = ?", b, a).affectedRows
    }

    func repointAbsorbedSubs(from a: User.ID, to b: User.ID) throws {
        try connection.execute("UPDATE absorbed_subs SET canonical_user_id = ? WHERE canonical_user_id = ?", b, a)
    }

    func repointLinks(from a: User.ID, to b: User.ID) throws {
        try connection.execute("UPDATE identity_links SET primary_user_id = ? WHERE primary_user_id = ?", b, a)
    }

    func insertLink(from a: User.ID, to b: User.ID, _ evidence: MergeEvidence) throws -> IdentityLink {
        let outcome = try connection.execute(
            """
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key, created_at)
            VALUES (?, ?, ?, ?, ?)
            """, b, a, evidence.method.rawValue, evidence.idempotencyKey, now)
        return IdentityLink(
            id: IdentityLink.ID(rawValue: Int64(outcome.lastInsertID)), primary: b, linked: a, method: evidence.method)
    }
}
