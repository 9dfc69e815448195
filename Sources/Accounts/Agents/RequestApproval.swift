import JSON
import MariaDB
import OpenSSL
import Time

/// What an agent is told about its request, the first time and when it repeats it.
package struct ApprovalReceipt: Sendable {
    package let approval: AgentApproval
    /// Empty if it cannot be opened.
    package fileprivate(set) var numberMatch: String
    package let isNew: Bool
    /// Why the number cannot be opened.
    package fileprivate(set) var fault: (any Error)?
}

extension Accounts {
    /// Makes a request for approval.
    ///
    /// Requests of one agent come one after the other. A key that the agent used before leads to the same request as long as
    /// that is kept, a new key to one that waits and shows the same.
    ///
    /// - Parameters:
    ///   - key: the Idempotency-Key.
    ///   - body: the whole body; what came with the key before must be equal.
    /// - Throws: in this order `actionNotAllowed`, `idempotencyConflict`, `invalidApproval`, `rateLimited`, `coolDown`,
    ///   `tooManyPending`. Nothing is written before, but what counts against the limit.
    package func requestApproval(
        _ request: ApprovalRequest, under key: String, body: [UInt8], by caller: AgentCaller,
        in transaction: AccountsTransaction
    ) throws -> ApprovalReceipt {
        let (connection, now) = (transaction.connection, transaction.now)
        let agent = try transaction.lock(caller)
        if let actionType = request.actionType, !agent.mayAsk(for: actionType) { throw Failure.actionNotAllowed }
        let (keyDigest, bodyDigest) = (sha256(key.utf8), sha256(body))
        if let (earlier, digest) = try connection.approval(of: agent.id, under: keyDigest) {
            if digest != bodyDigest { throw Failure.idempotencyConflict }
            return receipt(earlier)
        }
        let checked = try request.checked()
        // An agent that asks too often uses up nothing of the others'.
        let wait =
            try transaction.count(.approvalRequests, for: "\(agent.id.rawValue)")
            ?? transaction.count(.approvalRequestsOfUser, for: "\(agent.user.rawValue)")
        if let wait { throw Failure.rateLimited(retryAfter: wait) }
        let hash = DisplayPayload(
            actionType: checked.actionType, agentName: agent.name, agentType: agent.kind.rawValue, body: checked.body,
            context: checked.context, title: checked.title
        ).hash
        let waiting = try connection.pendingApprovals(of: agent.id, at: now)
        if let same = waiting.first(where: { $0.displayPayloadHash == hash }) {
            try transaction.keep(keyDigest, bodyDigest, for: same.id, of: agent.id)
            return receipt(same)
        }
        if let rejectedAt = try connection.lastRejection(
            of: checked.actionType, by: agent, since: now - AgentApproval.coolDown)
        {
            throw Failure.coolDown(retryAfter: rejectedAt + AgentApproval.coolDown - now)
        }
        if waiting.count >= AgentApproval.mostPending {
            throw Failure.tooManyPending(retryAfter: waiting.map { $0.rest(at: now) }.min() ?? .zero)
        }
        let ends = try connection.endsOfPendingApprovals(of: agent.user, after: now)
        if let first = ends.first, ends.count >= AgentApproval.mostPendingOfUser {
            throw Failure.tooManyPending(retryAfter: first - now)
        }
        let approval = try transaction.insertApproval(checked, hash: hash, of: agent, serverKey)
        try transaction.keep(keyDigest, bodyDigest, for: approval.id, of: agent.id)
        return receipt(approval, isNew: true)
    }

    private func receipt(_ approval: AgentApproval, isNew: Bool = false) -> ApprovalReceipt {
        let secrets = Result { try approval.secrets(serverKey) }
        var receipt = ApprovalReceipt(approval: approval, numberMatch: "", isNew: isNew)
        switch secrets {
        case .success(let secrets): receipt.numberMatch = secrets?.numberMatch ?? ""
        // Nobody can decide the request any more; its agent learns that by polling.
        case .failure(let error): receipt.fault = error
        }
        return receipt
    }
}

extension Connection {
    /// The request that an agent made under a key, with the digest of the body that came with the key.
    fileprivate func approval(
        of agent: Agent.ID, under keyDigest: [UInt8]
    ) throws -> (AgentApproval, bodyDigest: [UInt8])? {
        try first(
            ComposedSQL(
                select: AgentApproval.columns, "k.body_digest",
                from: """
                    agent_approval_keys k JOIN agent_approvals r ON r.id = k.approval_id
                    WHERE k.agent_id = ? AND k.key_digest = ?
                    """, agent, keyDigest)
        ) { row in (try AgentApproval(from: &row), try row.read()) }
    }

    /// At most `mostPending`.
    fileprivate func pendingApprovals(of agent: Agent.ID, at now: Timestamp) throws -> [AgentApproval] {
        try all(
            ComposedSQL(
                select: AgentApproval.columns,
                from: """
                    agent_approvals r FORCE INDEX (agent_approvals_agent_status)
                    WHERE r.agent_id = ? AND r.status = 'pending' AND r.expires_at > ?
                    """, agent, now)
        ) { row in try AgentApproval(from: &row) }
    }

    /// When the requests end that wait for a locked user, the first first; at most `mostPendingOfUser`.
    fileprivate func endsOfPendingApprovals(of user: User.ID, after now: Timestamp) throws -> [Timestamp] {
        try all(
            """
            SELECT expires_at FROM agent_approvals FORCE INDEX (agent_approvals_user_expires)
            WHERE user_id = ? AND status = 'pending' AND expires_at > ? ORDER BY expires_at LIMIT ?
            """, user, now, AgentApproval.mostPendingOfUser
        ) { row in try row.read() }
    }

    /// When the agent's user last rejected such an action, if that was after a time.
    fileprivate func lastRejection(of actionType: String, by agent: Agent, since time: Timestamp) throws -> Timestamp? {
        // Who rejects does so before the request expires, so the index leads to the few of this time.
        try first(
            """
            SELECT MAX(decided_at) FROM agent_approvals FORCE INDEX (agent_approvals_agent_status)
            WHERE agent_id = ? AND status = 'rejected' AND expires_at > ? AND decided_at > ? AND action_type = ?
            """, agent.id, time, time, actionType
        ) { row in try row.read(Timestamp?.self) } ?? nil
    }
}

extension AccountsTransaction {
    fileprivate func keep(
        _ keyDigest: [UInt8], _ bodyDigest: [UInt8], for approval: AgentApproval.ID, of agent: Agent.ID
    ) throws {
        try connection.execute(
            "INSERT INTO agent_approval_keys (agent_id, key_digest, body_digest, approval_id) VALUES (?, ?, ?, ?)",
            agent, keyDigest, bodyDigest, approval)
    }

    /// - Parameter agent: locked.
    fileprivate func insertApproval(
        _ request: ApprovalRequest.Checked, hash: String, of agent: Agent, _ serverKey: ServerKey
    ) throws -> AgentApproval {
        let publicID = "aar_" + randomText(16, of: .lettersAndDigits)
        let secrets = SealedRequest(context: request.context, numberMatch: randomText(6, of: .digits))
        let history = try note(.requested, of: [(publicID, agent.user, hash, .none)])[0]
        try connection.execute(
            """
            INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash, action_type, title, body,
                                         sealed_request, created_at, expires_at, history_length, history_digest)
            VALUES (?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, agent.user, agent.id, publicID, hash, request.actionType, request.title, request.body,
            secrets.sealed(with: serverKey, for: publicID), now, now + request.timeToLive, history.length,
            history.digest)
        guard let approval = try lockApproval(publicID, of: agent.id) else {
            preconditionFailure("it was just written")
        }
        return approval
    }
}
