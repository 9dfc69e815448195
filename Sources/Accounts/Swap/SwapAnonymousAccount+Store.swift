import IdentityTokens
import MariaDB
import Time

/// The identity that a swap's proof stands for.
struct ProvenIdentity: Equatable {
    var provider: Provider
    var subject: String
}

extension Connection {
    /// The holder of a proven identity, read without a lock, as in the other `holder`.
    func holder(of proven: ProvenIdentity?) throws -> IdentityHolder? {
        try proven.flatMap { try holder(of: $0.provider, $0.subject) }
    }

    /// Nil if the ticket is unknown, expired or used, or belongs to another caller or provider.
    func identity(behind proof: Swap.Proof, of caller: Caller, at now: Timestamp) throws -> ProvenIdentity? {
        switch proof {
        case .token(let token):
            return ProvenIdentity(provider: token.provider, subject: token.subject)
        case .ticket(let text, let provider):
            let found = try first(
                """
                SELECT provider, sub FROM swap_tickets
                WHERE digest = ? AND user_id = ? AND used_at IS NULL AND expires_at > ?
                """, Secret(presented: text).digest, caller.id, now
            ) { row in (provider: try row.read(String.self), subject: try row.read(String.self)) }
            guard let found, let issuedFor = Provider(rawValue: found.provider), provider ?? issuedFor == issuedFor
            else { return nil }
            return ProvenIdentity(provider: issuedFor, subject: found.subject)
        }
    }

    /// A's live grants, with the fate of each.
    func plannedGrants(
        from a: User.ID, into b: User.ID, _ selection: SwapSelection
    ) throws -> [SwapPlan.PlannedGrant] {
        // STRAIGHT_JOIN: with few applications first, MariaDB would read the grants of all users.
        try all(
            """
            SELECT g.id, g.application_id, app.client_id, app.name, g.sub, app.notify_anonymous_swap,
                   EXISTS (SELECT 1 FROM grants own WHERE own.user_id = ? AND own.application_id = g.application_id
                           AND own.revoked_at IS NULL)
            FROM grants g STRAIGHT_JOIN applications app ON app.id = g.application_id
            WHERE g.user_id = ? AND g.revoked_at IS NULL ORDER BY g.id
            """, b, a
        ) { row in
            var grant = SwapPlan.PlannedGrant(
                id: try row.read(), application: try row.read(), clientID: try row.read(), name: try row.read(),
                sub: try row.read(), notifiesSwap: try row.read(), fate: .moved)
            if try row.read(Bool.self) { grant.fate = .duplicate }
            if !selection.selects(clientID: grant.clientID) { grant.fate = .dropped }
            return grant
        }
    }

    /// Every row of A that a swap moves or drops, except the kinds that every deleted account loses: keys, tickets,
    /// sessions and history.
    /// - Parameter device: the calling PAK's device, which moves to B. A's other devices are dropped.
    func swapPlan(
        from a: User.ID, into b: User.ID, _ selection: SwapSelection, keeping device: Device.ID?, at now: Timestamp
    ) throws -> SwapPlan {
        var plan = SwapPlan(grants: try plannedGrants(from: a, into: b, selection))
        let agentFate: SwapPlan.Fate = selection.agentApprovals ? .moved : .dropped
        plan.others += try agents(of: a).map { SwapPlan.PlannedRow(table: "agents", id: $0, fate: agentFate) }
        plan.others += try all(
            """
            SELECT mine.id, mine.status = 'pending' AND COALESCE(mine.expires_at > ?, TRUE) AND EXISTS (
                SELECT 1 FROM agent_approvals own WHERE own.user_id = ? AND own.status = 'pending'
                AND own.display_payload_hash = mine.display_payload_hash AND COALESCE(own.expires_at > ?, TRUE))
            FROM agent_approvals mine WHERE mine.user_id = ? ORDER BY mine.id
            """, now, b, now, a
        ) { row in
            let (id, isDuplicate) = (try row.read(Int64.self), try row.read(Bool.self))
            return SwapPlan.PlannedRow(
                table: "agent_approvals", id: id, fate: isDuplicate && agentFate == .moved ? .duplicate : agentFate)
        }
        plan.others += try pushApprovals(naming: a).map {
            SwapPlan.PlannedRow(
                table: "push_approval_requests", id: $0, fate: selection.notifications ? .moved : .dropped)
        }
        plan.others += try devices(of: a).map {
            SwapPlan.PlannedRow(table: "devices", id: $0, fate: $0 == device?.rawValue ? .moved : .dropped)
        }
        return plan
    }
}

extension SwapPlan {
    var counts: SwapCounts {
        SwapCounts(
            grantsTransferred: grants.count { $0.fate == .moved },
            grantsSkipped: grants.count { $0.fate == .duplicate },
            approvalsTransferred: count("agent_approvals", .moved),
            approvalsSkipped: count("agent_approvals", .duplicate),
            notificationsTransferred: count("push_approval_requests", .moved))
    }
}

extension AccountsTransaction {
    /// Runs steps 2 to 5 of accounts §1.9. Both users are locked. Rows that stay are deleted with A, by the cascade.
    ///
    /// - Parameters:
    ///   - pushApprovals: that name A, in ascending order.
    ///   - scanned: gets all columns of requests of agents if some of them are deleted.
    /// - Returns: also the requests of agents that were deleted, because B has the same, and those of browsers that were denied.
    func moveAssets(
        from a: User.ID, into b: User.ID, _ grants: [SwapPlan.PlannedGrant], _ pushApprovals: [Int64],
        _ selection: SwapSelection, journal scanned: inout ScannedRows?
    ) throws -> (counts: SwapCounts, duplicates: Set<AgentApproval.ID>, denied: Set<PushApproval.ID>) {
        var duplicates: [AgentApproval.ID] = []
        var denied: Set<PushApproval.ID> = []
        var counts = SwapCounts(
            grantsTransferred: grants.count { $0.fate == .moved }, grantsSkipped: grants.count { $0.fate == .duplicate }
        )
        let moved = grants.filter { $0.fate == .moved }
        if !moved.isEmpty {
            try connection.execute(
                "UPDATE grants SET user_id = ? WHERE user_id = ? AND FIND_IN_SET(id, ?)", b, a, idList(moved))
        }
        if selection.agentApprovals {
            _ = try moveAgents(from: a, to: b)
            duplicates = try cancelApprovals(of: a, duplicating: b) {
                guard var found = scanned else { return }
                try readApprovals(of: a, into: &found)
                scanned = found
            }
            try connection.executeMany("DELETE FROM agent_approvals WHERE id = ?", duplicates) { [$0] }
            counts.approvalsSkipped = duplicates.count
            counts.approvalsTransferred = try moveAgentApprovals(from: a, to: b)
        } else {
            try cancelApprovals(of: a)
        }
        if selection.notifications {
            // A's sessions go with A: a browser that A let in must not be signed in as B.
            denied = try denyPushApprovals(among: pushApprovals, of: b, by: .user(a), because: "swapped")
            counts.notificationsTransferred = try movePushApprovals(pushApprovals, from: a, to: b)
        }
        let absorbed = grants.filter { $0.fate != .dropped }
        if !absorbed.isEmpty {
            try connection.execute(
                """
                INSERT INTO absorbed_subs (application_id, sub, canonical_user_id, via, was_anonymous, occurred_at)
                SELECT application_id, sub, ?, 'anonymous_swap', TRUE, ?
                FROM grants WHERE user_id IN (?, ?) AND FIND_IN_SET(id, ?)
                ON DUPLICATE KEY UPDATE canonical_user_id = VALUES(canonical_user_id)
                """, b, now, a, b, idList(absorbed))
        }
        return (counts, Set(duplicates), denied)
    }

    /// Gives the calling PAK's device to B, with a new secret; nil if the PAK has no device any more.
    func reassignDevice(of caller: Caller, to b: User.ID) throws -> (device: Device, secret: Secret)? {
        guard let device = try device(of: caller) else { return nil }
        let (assigned, secret) = try assign(device, to: b)
        return (assigned, secret)
    }

    /// Writes what a swap may change in B, and increments the row's version. B's addresses do not change.
    func updateSurvivor(_ user: User) throws {
        try connection.execute(
            "UPDATE users SET version = version + 1, name = ?, last_active_at = ? WHERE id = ?", user.name,
            user.lastActiveAt, user.id)
    }

    private func idList(_ grants: [SwapPlan.PlannedGrant]) -> String {
        grants.map { String($0.id.rawValue) }.joined(separator: ",")
    }
}
