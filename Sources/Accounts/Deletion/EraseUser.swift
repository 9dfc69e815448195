import MariaDB

extension AccountsTransaction {
    /// Deletes a user's row with everything attached, so that nothing names the user any more. What remains are the rows of
    /// the audit log, without user, address and device, and events that wait to be delivered or polled (accounts §4.5).
    ///
    /// - Parameter user: locked. Nobody tells relying parties here.
    func erase(_ user: User.ID) throws {
        let actors = try actors(of: user)
        let logoutTokens = try logoutTokens(about: user)
        try revokeAppleGrants(of: user)
        try forgetAppleSubjects(of: user)
        try deleteTickets(namingIdentitiesOf: user)
        // A deleted account's requests are cancelled; that of a pruned one, or of an imported one, may still wait.
        try cancelApprovals(of: user)
        try deleteJournals(naming: user)
        let audited = try lockAudit(of: user, actors)
        // Before the cascade, which would only take the user away.
        try clearAudit(audited.about, "UPDATE audit_log SET user_id = NULL, ", Self.withoutNames)
        // Of these there may be very many, and a statement is stopped after 8 s.
        try deleteInBatches("DELETE FROM login_events WHERE user_id = ? ORDER BY id LIMIT 5000", user)
        try deleteInBatches("DELETE FROM paks WHERE user_id = ? ORDER BY id LIMIT 5000", user)
        // The cascades delete or clear what has the user's id.
        try connection.execute("DELETE FROM users WHERE id = ?", user)
        forgetInAudit(user)
        try connection.executeMany("DELETE FROM logout_tokens WHERE id = ?", logoutTokens) { [$0] }
        // What the user did to others stays theirs.
        try clearAudit(audited.caused, "UPDATE audit_log SET ", Self.withoutNames)
    }

    /// As whom the user acted: itself, and the anonymous accounts that were swapped into it, unless that was undone.
    private func actors(of user: User.ID) throws -> [String] {
        let swapped = try connection.all(
            """
            SELECT JSON_VALUE(s.details, '$.from_user_id')
            FROM audit_log s
            WHERE s.user_id = ? AND s.action = ? AND NOT EXISTS (
                SELECT 1 FROM audit_log u
                WHERE u.user_id = s.user_id AND u.action = ? AND u.id > s.id
                  AND JSON_VALUE(u.details, '$.unlinked_user_id') = JSON_VALUE(s.details, '$.from_user_id'))
            """, user, AuditEntry.Action.userSwapped.rawValue, AuditEntry.Action.userUnlinked.rawValue
        ) { row in try row.read(String?.self).flatMap(Int64.init) }
        let ids = [user] + swapped.compactMap { $0.map(User.ID.init(rawValue:)) }
        return ids.map { AuditEntry.Actor.user($0).text }
    }

    /// Locks the rows of the audit log that lose what names the user. The cascade locks those about the user wherever it stands,
    /// so they cannot come last (accounts §0.4); but only those who erase lock rows that are there, and they all do it here, in
    /// ascending order. So two who acted on each other are erased one after the other.
    ///
    /// - Returns: the rows about the user, and those that the user caused, as far as these say more than that.
    private func lockAudit(of user: User.ID, _ actors: [String]) throws -> (about: [Int64], caused: [Int64]) {
        let about = try connection.all("SELECT id FROM audit_log WHERE user_id = ?", user) { row in
            try row.read(Int64.self)
        }
        var caused: [Int64] = []
        for actor in actors {
            caused += try connection.all(
                "SELECT id FROM audit_log WHERE actor = ? AND (ip IS NOT NULL OR details IS NOT NULL)", actor
            ) { row in try row.read() }
        }
        try inBatches(Set(about).union(caused).sorted()) { rows in
            var sql = ComposedSQL("SELECT id FROM audit_log")
            sql.append(" WHERE id IN ", oneOf: rows)
            sql.append(" ORDER BY id FOR UPDATE")
            _ = try connection.all(sql) { row in try row.read(Int64.self) }
        }
        return (about, caused)
    }

    private func deleteInBatches(_ sql: StaticString, _ user: User.ID) throws {
        while try connection.execute(sql, user).affectedRows > 0 {}
    }

    /// Tokens that have waited for an inactive application since before the deletion.
    private func logoutTokens(about user: User.ID) throws -> [Int64] {
        try connection.all(
            """
            SELECT t.id FROM grants g JOIN logout_tokens t ON t.application_id = g.application_id AND t.sub = g.sub
            WHERE g.user_id = ? ORDER BY t.id
            """, user
        ) { row in try row.read() }
    }

    /// Those of others, who wanted to swap into the user. They have expired; only their clean-up is late.
    private func deleteTickets(namingIdentitiesOf user: User.ID) throws {
        let tickets = try connection.all(
            """
            SELECT t.id FROM identities i JOIN swap_tickets t ON t.provider = i.provider AND t.sub = i.sub
            WHERE i.user_id = ? AND t.user_id <> ? ORDER BY t.id
            """, user, user
        ) { row in try row.read(Int64.self) }
        try connection.executeMany("DELETE FROM swap_tickets WHERE id = ?", tickets) { [$0] }
    }

    /// With the images of both accounts. The cascade would delete only those of merges that the user survived, and after the
    /// audit log is locked, whereas whoever erases the other account locks them before (accounts §0.4).
    private func deleteJournals(naming user: User.ID) throws {
        let journals = try connection.all(
            """
            SELECT id FROM merge_journals WHERE survivor_user_id = ?
            UNION SELECT id FROM merge_journals WHERE absorbed_user_id = ? ORDER BY id
            """, user, user
        ) { row in try row.read(MergeJournal.ID.self) }
        try connection.executeMany("DELETE FROM merge_journals WHERE id = ?", journals) { [$0] }
    }

    /// What an entry may say of a person or a device; the trigger of audit_log allows exactly this.
    private static let withoutNames: StaticString = """
        ip = NULL,
        details = JSON_REPLACE(details, '$.device_uuid', NULL, '$.claimed_device_uuid', NULL,
                               '$.email', NULL, '$.address', NULL, '$.name', NULL)
        """

    /// - Parameter update: what the rows lose. They are locked.
    private func clearAudit(_ rows: [Int64], _ update: StaticString...) throws {
        try inBatches(rows) { rows in
            var sql = ComposedSQL(joining: update)
            sql.append(" WHERE id IN ", oneOf: rows)
            _ = try connection.execute(sql)
        }
    }

    private func inBatches(_ rows: [Int64], _ body: ([Int64]) throws -> Void) throws {
        for start in stride(from: 0, to: rows.count, by: 500) { try body(Array(rows[start...].prefix(500))) }
    }

    /// What others caused of an account that is swapped away. Nothing leads from the survivor to it, so that the survivor's purge
    /// would not find it. What the account caused itself is found by its id.
    func clearAuditByOthers(about user: User.ID) throws {
        var sql = ComposedSQL(joining: ["UPDATE audit_log SET user_id = NULL, ", Self.withoutNames])
        sql.append(" WHERE user_id = ? AND actor <> ?", user, AuditEntry.Actor.user(user).text)
        _ = try connection.execute(sql)
    }
}
