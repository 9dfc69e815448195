import MariaDB

/// What a sign-in did about an anonymous id in a project (accounts Stage 5).
package struct AccountClaim: Equatable, Sendable {
    package enum Outcome: String, Sendable {
        case claimed
        case alreadyClaimed = "already_claimed"
        /// The project refuses a second claim.
        case claimedByOther = "claimed_by_other"
        case refused
    }

    package let project: Project.ID
    package let anonymousID: EndUserID
    package let outcome: Outcome

    package var isRefused: Bool { outcome == .claimedByOther || outcome == .refused }
}

extension AnalyticsTransaction {
    /// Claims anonymous ids for a user, in every project whose users are the accounts', with the effects of a client's claim
    /// (analytics §5). Ids that the user holds already, or that the project refuses to give again, cost one read, for all of them
    /// together.
    ///
    /// A refused claim writes nothing, and refuses nothing else.
    ///
    /// - Returns: in the order of project and id.
    package func claim(_ ids: some Collection<EndUserID>, for user: EndUserID) throws -> [AccountClaim] {
        let wanted = try connection.claims(of: ids, by: user)
        // Locked together, in ascending order, which the claims one after the other would not be.
        var records: Set<Record.ID> = []
        for (project, claims) in Dictionary(grouping: wanted.filter { $0.known == nil }, by: \.project) {
            records.formUnion(try connection.records(named: claims.map(\.anonymousID) + [user], in: project))
        }
        _ = try lockRecords(records)
        return try wanted.map { wanted in
            AccountClaim(
                project: wanted.project, anonymousID: wanted.anonymousID,
                outcome: try wanted.known ?? outcome(of: wanted, by: user))
        }
    }

    private func outcome(of wanted: WantedClaim, by user: EndUserID) throws -> AccountClaim.Outcome {
        do {
            try connection.savepoint {
                let claim = try Claim(anonymousID: wanted.anonymousID, userID: user)
                _ = try self.claim(claim, in: wanted.project, wanted.conflict)
            }
            return .claimed
        } catch Refusal.conflict {
            return .claimedByOther
        } catch is Refusal {
            return .refused
        }
    }
}

private struct WantedClaim {
    let project: Project.ID
    let conflict: Project.ClaimConflict
    let anonymousID: EndUserID
    /// Whether the user has claimed it, and whether anybody has.
    let isHeld: (byUser: Bool, byAnybody: Bool)

    /// The outcome if nothing is to be written.
    var known: AccountClaim.Outcome? {
        if isHeld.byUser { return .alreadyClaimed }
        return isHeld.byAnybody && conflict == .refuse ? .claimedByOther : nil
    }
}

extension Connection {
    /// Those whose users are the accounts'. Deleted ones count, because they may be restored.
    func accountsProjects() throws -> [Project.ID] {
        try all("SELECT id FROM projects WHERE accounts = TRUE ORDER BY id") { row in try row.read() }
    }

    /// The records with these names in those projects, those that they point at, and those that point at one of them.
    func records(named names: [EndUserID], orPointingAt user: EndUserID) throws -> Set<Record.ID> {
        Set(
            try all(
                """
                SELECT u.id, u.merged_into, t.id
                FROM projects p
                JOIN JSON_TABLE(?, '$[*]' COLUMNS (
                    user_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$' ERROR ON ERROR)) j
                STRAIGHT_JOIN app_users u ON u.project_id = p.id AND u.user_id = j.user_id
                LEFT JOIN app_users t ON t.merged_into = u.id AND u.user_id = ?
                WHERE p.accounts = TRUE
                """, list(names.map(\.rawValue)), user
            ) { row in [try row.read(Record.ID?.self), try row.read(Record.ID?.self), try row.read(Record.ID?.self)] }
            .joined().compactMap { $0 })
    }

    fileprivate func claims(of ids: some Collection<EndUserID>, by user: EndUserID) throws -> [WantedClaim] {
        if ids.isEmpty { return [] }
        return try all(
            """
            SELECT p.id, p.claim_conflict, j.anonymous_id, EXISTS (
                SELECT 1 FROM app_users u
                JOIN identity_claims c ON c.project_id = p.id AND c.anonymous_id = j.anonymous_id
                    AND c.app_user_id = COALESCE(u.merged_into, u.id)
                WHERE u.project_id = p.id AND u.user_id = ?),
                EXISTS (SELECT 1 FROM identity_claims c WHERE c.project_id = p.id AND c.anonymous_id = j.anonymous_id)
            FROM projects p
            JOIN JSON_TABLE(?, '$[*]' COLUMNS (
                anonymous_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin PATH '$' ERROR ON ERROR)) j
            WHERE p.accounts = TRUE AND p.deleted_at IS NULL
            ORDER BY p.id, j.anonymous_id
            """, user, list(ids.map(\.rawValue))
        ) { row in
            WantedClaim(
                project: try row.read(), conflict: try row.read(), anonymousID: try row.read(),
                isHeld: (try row.read(), try row.read()))
        }
    }
}
