import MariaDB

extension Connection {
    /// Whether this user has claimed this id before, even if somebody else has claimed it since. Confirms the key, too.
    func isHeld(_ claim: Claim, in project: Project.ID, _ proof: KeyProof) throws -> Bool {
        try first(
            """
            SELECT v.version, EXISTS (
                SELECT 1
                FROM app_users u
                JOIN identity_claims c
                    ON c.project_id = u.project_id AND c.anonymous_id = ? AND c.app_user_id = COALESCE(u.merged_into, u.id)
                WHERE u.project_id = ? AND u.user_id = ?)
            FROM api_key_version v WHERE v.id = 1
            """, claim.anonymousID, project, claim.userID
        ) { row in
            try proof.confirm(try row.read())
            return try row.read()
        } ?? false
    }

    /// Whether a user has claimed an id, and whether anybody has.
    ///
    /// - Parameters:
    ///   - user: nil: one without a record.
    ///   - record: that of the id; nil: none.
    /// - Returns: also the number of rows in `events` that count for the record (analytics §4.5).
    func claims(
        of id: EndUserID, in project: Project.ID, by user: Record.ID?, counting record: Record.ID?
    ) throws -> (byUser: Bool, byAnybody: Bool, events: Int) {
        try first(
            """
            SELECT EXISTS (SELECT 1 FROM identity_claims WHERE project_id = ? AND anonymous_id = ? AND app_user_id = ?),
                   EXISTS (SELECT 1 FROM identity_claims WHERE project_id = ? AND anonymous_id = ?),
                   (SELECT CAST(COALESCE(SUM(n), 0) AS UNSIGNED) FROM app_user_event_counts
                    WHERE app_user_id = ?
                      AND month >= (SELECT DATE(horizon) FROM retention_horizons WHERE table_name = 'events'))
            """, project, id, user, project, id, record
        ) { row in (try row.read(), try row.read(), try row.read()) } ?? (false, false, 0)
    }

    /// With those that they point at.
    func records(named names: [EndUserID], in project: Project.ID) throws -> Set<Record.ID> {
        Set(
            try all(
                """
                SELECT u.id, u.merged_into
                FROM JSON_TABLE(?, '$[*]' COLUMNS (
                    user_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$' ERROR ON ERROR)) j
                STRAIGHT_JOIN app_users u ON u.project_id = ? AND u.user_id = j.user_id
                """, list(names.map(\.rawValue)), project
            ) { row in [try row.read(Record.ID?.self), try row.read(Record.ID?.self)] }.joined().compactMap { $0 })
    }
}

extension AnalyticsTransaction {
    /// If a record has this name by now, the duplicate key lets the transaction run again.
    func rename(_ record: Record.ID, to userID: EndUserID) throws {
        try connection.executeLater(
            "UPDATE app_users SET user_id = ?, is_anonymous = FALSE WHERE id = ?", userID, record)
    }

    /// The time of a new claim is later than all claims of the id and of the user, even if the clock went back.
    func insertClaim(of id: EndUserID, by owner: Record.ID, in project: Project.ID) throws {
        try connection.executeLater(
            """
            INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at)
            SELECT ?, ?, ?, GREATEST(
                ?,
                COALESCE((SELECT MAX(claimed_at) FROM identity_claims WHERE project_id = ? AND anonymous_id = ?)
                         + INTERVAL 1 MICROSECOND, '1970-01-01'),
                COALESCE((SELECT MAX(claimed_at) FROM identity_claims WHERE app_user_id = ?)
                         + INTERVAL 1 MICROSECOND, '1970-01-01'))
            """, project, id, owner, now, project, id, owner)
    }
}
