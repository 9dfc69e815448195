import JSON
package import MariaDB
import Time

extension Accounts {
    /// - Returns: the agent, and its bearer token, which is shown once.
    /// - Throws: `bearerOnlyDisabled` if agents have to sign here; `rateLimited` after 60 in an hour; `tooManyAgents` if the user
    ///   has as many as may be.
    package func createAgent(
        _ new: NewAgent, for caller: Caller, in transaction: AccountsTransaction
    ) throws -> (agent: Agent, token: Secret) {
        if new.authMode == .bearerOnly && !settings.allowsBearerOnlyAgents { throw Failure.bearerOnlyDisabled }
        let user = try transaction.lockCaller(caller).caller
        if let wait = try transaction.count(.agentCreation, for: "\(user.id.rawValue)") {
            throw Failure.rateLimited(retryAfter: wait)
        }
        if try transaction.connection.liveAgents(of: user.id, countingTo: Agent.mostLive) == Agent.mostLive {
            throw Failure.tooManyAgents
        }
        let (publicID, token) = ("agt_" + randomText(16, of: .lowerCaseAndDigits), Secret(.agent))
        try transaction.connection.execute(
            """
            INSERT INTO agents (user_id, public_id, name, agent_type, auth_mode, public_key, token_digest,
                                allowed_action_types, allowed_ips, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, user.id, publicID, new.name, new.kind, new.authMode, new.publicKey, token.digest,
            Self.list(new.allowedActionTypes), Self.list(new.allowedAddresses), transaction.now)
        transaction.audit(
            .agentCreated, user: user.id, actor: caller.actor,
            ["agent_id": .string(publicID), "auth_mode": .string(new.authMode.rawValue)])
        guard let agent = try transaction.connection.agent(publicID, of: user.id) else { throw Failure.invalidToken }
        return (agent, token)
    }

    /// An array as its column has it; nil for an empty one.
    private static func list(_ entries: [String]) -> String? {
        entries.isEmpty ? nil : String(decoding: entries.json(), as: UTF8.self)
    }

    /// The user's agents that are not revoked, newest first: at most `Agent.listed`.
    package func agents(of user: User.ID, _ connection: Connection) throws -> [Agent] {
        try connection.all(
            ComposedSQL(
                select: Agent.columns,
                from: """
                    agents a FORCE INDEX (agents_user_live) WHERE a.user_id = ? AND a.revoked_at IS NULL
                    ORDER BY a.id DESC LIMIT ?
                    """, user, Agent.listed)
        ) { row in try Agent(from: &row) }
    }

    /// Ends an agent's access. Its requests that wait are cancelled: nobody could fetch a decision.
    ///
    /// - Throws: `notFound` if the user has no such agent, or revoked it before.
    package func revokeAgent(_ publicID: String, by caller: Caller, in transaction: AccountsTransaction) throws {
        let user = try transaction.lockCaller(caller).caller
        guard let agent = try transaction.connection.agent(publicID, of: user.id) else { throw Failure.notFound }
        try transaction.connection.execute(
            "UPDATE agents SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", transaction.now, agent.id)
        try transaction.cancelApprovals(of: agent.id)
        transaction.audit(.agentRevoked, user: user.id, actor: caller.actor, ["agent_id": .string(publicID)])
    }
}

extension AccountsTransaction {
    /// Ends the access of all agents of a user, who is locked.
    ///
    /// - Returns: how many had access.
    @discardableResult
    func revokeAgents(of user: User.ID) throws -> Int {
        let revoked = try connection.execute(
            "UPDATE agents SET revoked_at = ? WHERE user_id = ? AND revoked_at IS NULL", now, user)
        try cancelApprovals(of: user)
        return revoked.affectedRows
    }

    /// Deletes agents that were revoked and have no requests any more, at most as many as clean-up takes at once (accounts §0.4).
    /// They get no new ones, so that their users need not be locked.
    func deleteAgents(revokedBefore time: Timestamp) throws -> Outcome {
        let old = try connection.all(
            """
            SELECT a.id FROM agents a FORCE INDEX (agents_revoked)
            WHERE a.revoked_at <= ? AND NOT EXISTS (SELECT 1 FROM agent_approvals r WHERE r.agent_id = a.id) LIMIT 500
            """, time
        ) { row in try row.read(Agent.ID.self) }
        return try connection.executeMany("DELETE FROM agents WHERE id = ?", old.sorted()) { [$0] }
    }
}

extension Connection {
    /// How many agents of a locked user are not revoked; it reads no more than `limit` of them.
    fileprivate func liveAgents(of user: User.ID, countingTo limit: Int) throws -> Int {
        try first(
            """
            SELECT COUNT(*) FROM (SELECT 1 FROM agents FORCE INDEX (agents_user_live)
                                  WHERE user_id = ? AND revoked_at IS NULL LIMIT ?) live
            """, user, limit
        ) { row in try row.read() } ?? 0
    }

    /// An agent that is not revoked. Its user is locked if anything is decided by it.
    func agent(_ publicID: String, of user: User.ID) throws -> Agent? {
        guard publicID.isASCII else { return nil }
        return try first(
            ComposedSQL(
                select: Agent.columns,
                from: "agents a WHERE a.public_id = ? AND a.user_id = ? AND a.revoked_at IS NULL",
                publicID, user)
        ) { row in try Agent(from: &row) }
    }
}
