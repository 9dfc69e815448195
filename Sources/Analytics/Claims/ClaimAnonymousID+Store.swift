import Database
import MariaDB

extension Connection {
    /// Whether this user has claimed this id before, even if somebody else has claimed it since. If not, also the records that
    /// a claim locks first: those of both ids, and those that they point at; nil if they are not known. Confirms the key, too.
    func lookUp(
        _ claim: Claim, in project: Project.ID, _ proof: KeyProof
    ) throws -> (isHeld: Bool, records: Set<Record.ID>?) {
        try first(
            """
            SELECT v.version, c.id IS NOT NULL, u.id, u.merged_into, a.id, a.merged_into
            FROM api_key_version v
            LEFT JOIN app_users u FORCE INDEX (app_users_project_user) ON u.project_id = ? AND u.user_id = ?
            LEFT JOIN identity_claims c FORCE INDEX (identity_claims_claim)
                ON c.project_id = ? AND c.anonymous_id = ? AND c.app_user_id = COALESCE(u.merged_into, u.id)
            LEFT JOIN app_users a FORCE INDEX (app_users_project_user) ON a.project_id = ? AND a.user_id = ?
            WHERE v.id = 1
            """, project, claim.userID, project, claim.anonymousID, project, claim.anonymousID
        ) { row in
            try proof.confirm(try row.read())
            let isHeld: Bool = try row.read()
            var records: Set<Record.ID> = []
            for _ in 0..<4 {
                let id: Record.ID? = try row.read()
                if let id, !isHeld { records.insert(id) }
            }
            return (isHeld, records)
        } ?? (false, nil)
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
    /// What decides about a claim. While the records of the id and of the user are locked, neither gets a later claim.
    ///
    /// - Parameters:
    ///   - user: that of the user; nil: one without a record, and so without claims.
    ///   - record: that of the id.
    func standing(
        of id: EndUserID, in project: Project.ID, by user: Record.ID?, counting record: Record.ID
    ) throws -> ClaimStanding {
        let sql =
            user.map { Self.standingOfUser.with(project, id, $0, record, now, $0, project, id) }
            ?? Self.standingOfNobody.with(record, now, project, id)
        return try connection.first(sql) { row in
            ClaimStanding(
                byUser: try row.read(), byAnybody: try row.read(), events: try row.read(), nextTime: try row.read())
        } ?? { throw TransactionMustRestart() }()
    }

    private static let standingOfUser = ComposedSQL(
        select: """
            EXISTS (
                SELECT 1 FROM identity_claims FORCE INDEX (identity_claims_claim)
                WHERE project_id = ? AND anonymous_id = ? AND app_user_id = ?)
            """, "MAX(c.claimed_at) IS NOT NULL", countedEvents,
        """
        CAST(GREATEST(
            ?, COALESCE(MAX(c.claimed_at) + INTERVAL 1 MICROSECOND, '1970-01-01'), COALESCE((
                SELECT MAX(o.claimed_at) FROM identity_claims o FORCE INDEX (identity_claims_user)
                WHERE o.app_user_id = ?) + INTERVAL 1 MICROSECOND, '1970-01-01')) AS CHAR)
        """, from: claimsOfID)

    /// MariaDB would open and plan what it reads of a user's claims, even if there is no user.
    private static let standingOfNobody = ComposedSQL(
        select: "FALSE", "MAX(c.claimed_at) IS NOT NULL", countedEvents,
        "CAST(GREATEST(?, COALESCE(MAX(c.claimed_at) + INTERVAL 1 MICROSECOND, '1970-01-01')) AS CHAR)",
        from: claimsOfID)

    private static let countedEvents: StaticString = """
        (SELECT CAST(COALESCE(SUM(e.n), 0) AS UNSIGNED)
         FROM retention_horizons h
         JOIN app_user_event_counts e FORCE INDEX (PRIMARY) ON e.app_user_id = ? AND e.month >= DATE(h.horizon)
         WHERE h.table_name = 'events')
        """
    private static let claimsOfID: StaticString = """
        identity_claims c FORCE INDEX (identity_claims_latest) WHERE c.project_id = ? AND c.anonymous_id = ?
        """

    /// If a record has this name by now, the duplicate key lets the transaction run again.
    func rename(_ record: Record.ID, to userID: EndUserID) throws {
        try connection.executeLater(
            "UPDATE app_users SET user_id = ?, is_anonymous = FALSE WHERE id = ?", userID, record)
    }

    func insertClaim(of id: EndUserID, by owner: Record.ID, in project: Project.ID, at time: String) throws {
        try connection.executeLater(
            "INSERT INTO identity_claims (project_id, anonymous_id, app_user_id, claimed_at) VALUES (?, ?, ?, ?)",
            project, id, owner, time)
    }
}

/// What is stored that decides about a claim.
struct ClaimStanding {
    /// Whether the user has claimed the id, and whether anybody has.
    let byUser: Bool, byAnybody: Bool
    /// How many rows in `events` count for the id's record (analytics §4.5).
    let events: Int
    /// `DATETIME(6)`: a new claim is later than all claims of the id and of the user, even if the clock went back.
    let nextTime: String
}
