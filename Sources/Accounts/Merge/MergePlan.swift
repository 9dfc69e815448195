import MariaDB

/// How many rows a merge moves, by kind; revoked grants are among them (accounts §3.1).
package struct MergeCounts: Equatable, Sendable {
    package var identities = 0
    package var grants = 0
    package var devices = 0
    package var agents = 0
    package var agentApprovals = 0
    package var notifications = 0
}

/// What a merge would do, row by row. A dry run shows it, and `If-Match` holds the merge to it.
///
/// Keys, tickets, sessions, tokens and the login history are not part of it: using an account does not change its plan.
package struct MergePlan {
    /// Sign-ins that a merge moves at most, and that a swap deletes.
    package static let longestHistory = 25_000

    let absorbed: User.ID
    fileprivate(set) var counts = MergeCounts()
    /// One for each row, without those of the rows' tokens.
    fileprivate(set) var lines: [String] = []

    func name(into survivor: User.ID) -> String {
        planName(["merge \(absorbed.rawValue) into \(survivor.rawValue)"] + lines)
    }
}

/// A dry run's answer: what the merge would move now.
package struct MergePreview: Sendable {
    package var plan: String
    package var counts: MergeCounts
}

extension Connection {
    /// A cluster of databases applies a transaction as a whole, while everything else waits, and refuses one of 2 GiB
    /// (`wsrep_max_ws_size`). Only the history of sign-ins has no other limit. With the longest user agents, these rows
    /// take 100 MiB, before and after, and the journal of a swap holds them in memory.
    ///
    /// - Throws: `accountTooLarge` if a merge would move more of it than `MergePlan.longestHistory`, or a swap delete it.
    func checkHistory(of absorbed: User.ID) throws {
        let count = try first(
            "SELECT COUNT(*) FROM (SELECT 1 FROM login_events WHERE user_id = ? LIMIT ?) history", absorbed,
            MergePlan.longestHistory + 1
        ) { row in try row.read(Int.self) }
        if let count, count > MergePlan.longestHistory { throw Failure.accountTooLarge }
    }

    /// What a merge would move, if the plan is the one that the caller expects.
    ///
    /// - Throws: `planChanged`, `accountTooLarge`.
    func previewMerge(
        of absorbed: User.ID, into survivor: User.ID, _ precondition: Precondition
    ) throws -> MergePreview {
        let plan = try mergePlan(of: absorbed)
        let name = plan.name(into: survivor)
        try precondition.check(against: name)
        try checkHistory(of: absorbed)
        return MergePreview(plan: name, counts: plan.counts)
    }

    /// Every row of the user that a merge moves.
    func mergePlan(of user: User.ID) throws -> MergePlan {
        var plan = MergePlan(absorbed: user)
        func add(_ what: StaticString, _ ids: [Int64]) -> Int {
            plan.lines += ids.map { "\(what) \($0)" }
            return ids.count
        }
        func ids(_ sql: StaticString) throws -> [Int64] { try all(sql, user) { row in try row.read() } }
        _ = add("applications", try ids("SELECT id FROM applications WHERE owner_user_id = ? ORDER BY id"))
        plan.counts.identities = add("identities", try ids("SELECT id FROM identities WHERE user_id = ? ORDER BY id"))
        plan.counts.devices = add("devices", try devices(of: user))
        plan.counts.grants =
            add("grants", try ids("SELECT id FROM grants WHERE user_id = ? AND revoked_at IS NULL ORDER BY id"))
            + add(
                "revoked grants",
                try ids("SELECT id FROM grants WHERE user_id = ? AND revoked_at IS NOT NULL ORDER BY id"))
        plan.counts.agents = add("agents", try agents(of: user))
        plan.counts.agentApprovals = add(
            "agent_approvals", try ids("SELECT id FROM agent_approvals WHERE user_id = ? ORDER BY id"))
        plan.counts.notifications = add("push_approval_requests", try pushApprovals(naming: user))
        plan.lines += try all(
            "SELECT application_id, sub FROM absorbed_subs WHERE canonical_user_id = ? ORDER BY application_id, sub",
            user
        ) { row in "absorbed_subs \(try row.read(Int64.self)) \(try row.read(String.self))" }
        _ = add("identity_links", try ids("SELECT id FROM identity_links WHERE primary_user_id = ? ORDER BY id"))
        return plan
    }
}
