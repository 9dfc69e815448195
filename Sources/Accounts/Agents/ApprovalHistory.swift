import JSON
import MariaDB
import OpenSSL
import Text
import Time

/// What happened to a request, as its history says.
enum ApprovalEvent: String, Encodable {
    case requested, approved, rejected, expired, cancelled
    /// Somebody typed a wrong number.
    case numberMismatch = "number_mismatch"
}

/// The end of a request's history: what the next row is chained to.
struct HistoryEnd {
    let length: Int
    /// Nil for a row from before there were histories.
    let digest: [UInt8]?

    static let none = HistoryEnd(length: 0, digest: nil)
}

/// One row of a history. Its digest covers the digest of the row before, so no row can be changed or taken out unnoticed. It
/// does not cover the user, who may be merged or deleted.
private struct HistoryRow: Encodable {
    /// The request's public id.
    let approval: String
    /// With milliseconds.
    let at: String
    let displayPayloadHash: String
    let event: ApprovalEvent
    /// The digest of the row before in hexadecimal, or 64 zeros.
    let previous: String
    let sequence: Int

    /// SHA-256 of the members above in canonical JSON (RFC 8785).
    var digest: [UInt8] { sha256(canonicalJSON()) }
}

/// What it takes to end a request. It has no texts, so that a batch fits into little memory.
struct EndingApproval {
    let id: AgentApproval.ID
    let publicID: String
    let user: User.ID
    let displayPayloadHash: String
    let expiresAt: Timestamp?
    let history: HistoryEnd

    static let columns: StaticString = """
        r.id, r.public_id, r.user_id, r.display_payload_hash, r.expires_at, r.history_length, r.history_digest
        """

    /// - Parameter row: `columns`, in their order.
    init(from row: inout Row) throws {
        id = try row.read()
        publicID = try row.read()
        user = try row.read()
        displayPayloadHash = try row.read()
        expiresAt = try row.read()
        history = HistoryEnd(length: try row.read(), digest: try row.read())
    }

    init(_ approval: AgentApproval) {
        id = approval.id
        publicID = approval.publicID
        user = approval.user
        displayPayloadHash = approval.displayPayloadHash
        expiresAt = approval.expiresAt
        history = approval.history
    }
}

extension AccountsTransaction {
    /// Appends to the history of requests. Their users are locked, and so are they, unless they are new.
    ///
    /// - Returns: the new ends, in the same order. Whoever calls this writes them to the requests.
    func note(
        _ event: ApprovalEvent, of approvals: [(publicID: String, user: User.ID, hash: String, history: HistoryEnd)]
    ) throws -> [HistoryEnd] {
        let zeros = [UInt8](repeating: 0, count: 32)
        let ends = approvals.map { approval in
            HistoryEnd(
                length: approval.history.length + 1,
                digest: HistoryRow(
                    approval: approval.publicID, at: now.iso8601Milliseconds, displayPayloadHash: approval.hash,
                    event: event, previous: (approval.history.digest ?? zeros).hexadecimal,
                    sequence: approval.history.length + 1
                ).digest)
        }
        try connection.executeMany(
            """
            INSERT INTO agent_approval_history
                (approval, sequence, user_id, event, at, display_payload_hash, previous_digest, digest)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, Array(zip(approvals, ends))
        ) { [now] approval, end in
            [
                approval.publicID, end.length, approval.user, event.rawValue, now, approval.hash,
                approval.history.digest ?? zeros, end.digest,
            ]
        }
        return ends
    }

    func note(_ event: ApprovalEvent, of approval: AgentApproval) throws -> HistoryEnd {
        try note(event, of: [EndingApproval(approval)])[0]
    }

    private func note(_ event: ApprovalEvent, of approvals: [EndingApproval]) throws -> [HistoryEnd] {
        try note(event, of: approvals.map { ($0.publicID, $0.user, $0.displayPayloadHash, $0.history) })
    }

    /// Ends requests that waited.
    ///
    /// - Parameters:
    ///   - status: not `pending`.
    ///   - approvals: locked, and pending in their rows.
    @discardableResult
    func end(_ approvals: [EndingApproval], as status: AgentApproval.Status, isDecision: Bool = false) throws -> Outcome
    {
        let event: ApprovalEvent =
            switch status {
            case .pending: preconditionFailure("pending is no end")
            case .approved: .approved
            case .rejected: .rejected
            case .expired: .expired
            case .cancelled: .cancelled
            }
        let ends = try note(event, of: approvals)
        return try connection.executeMany(
            """
            UPDATE agent_approvals SET status = ?, decided_at = ?, history_length = ?, history_digest = ? WHERE id = ?
            """, Array(zip(approvals, ends))
        ) { [now] approval, end in [status, isDecision ? now : nil, end.length, end.digest, approval.id] }
    }

    /// Cancels an agent's requests that wait. The agent's user is locked.
    func cancelApprovals(of agent: Agent.ID) throws {
        try cancel(
            ComposedSQL(
                """
                agent_approvals r FORCE INDEX (agent_approvals_agent_status) WHERE r.agent_id = ? AND r.status = 'pending'
                """, agent))
    }

    /// Cancels the requests that wait for a user, who is locked.
    func cancelApprovals(of user: User.ID) throws {
        try cancel(
            ComposedSQL(
                """
                agent_approvals r FORCE INDEX (agent_approvals_user_status) WHERE r.user_id = ? AND r.status = 'pending'
                """, user))
    }

    /// Cancels the requests of some agents that wait for a user. The user is locked.
    func cancelApprovals(of agents: [Agent.ID], waitingFor user: User.ID) throws {
        if agents.isEmpty { return }
        var waiting = ComposedSQL(
            """
            agent_approvals r FORCE INDEX (agent_approvals_user_status) WHERE r.user_id = ? AND r.status = 'pending'
            """, user)
        waiting.append(" AND r.agent_id IN ", oneOf: agents)
        try cancel(waiting)
    }

    /// Cancels those of a user's requests that are going to be deleted because they show the same as one of another user's. Both
    /// users are locked.
    ///
    /// - Parameter isAbout: called before anything is changed, if there are any.
    /// - Returns: their ids.
    func cancelApprovals(
        of user: User.ID, duplicating other: User.ID, isAbout: () throws -> Void
    ) throws -> [AgentApproval.ID] {
        try cancel(
            ComposedSQL(
                """
                agent_approvals r FORCE INDEX (agent_approvals_user_status)
                WHERE r.user_id = ? AND r.status = 'pending' AND COALESCE(r.expires_at > ?, TRUE)
                AND EXISTS (SELECT 1 FROM agent_approvals own FORCE INDEX (agent_approvals_user)
                            WHERE own.user_id = ? AND own.status = 'pending' AND own.display_payload_hash = r.display_payload_hash
                                  AND COALESCE(own.expires_at > ?, TRUE))
                """, user, now, other, now), isAbout: isAbout)
    }

    /// What nobody decided in time has expired, whatever its row still says.
    ///
    /// - Parameter waiting: `agent_approvals r …`, without those that this has ended.
    @discardableResult
    private func cancel(
        _ waiting: ComposedSQL, isAbout: () throws -> Void = {}
    ) throws -> [AgentApproval.ID] {
        var sql = ComposedSQL(select: EndingApproval.columns, from: "")
        sql.append(waiting)
        sql.append(" ORDER BY r.id LIMIT ? FOR UPDATE", Garbage.batch)
        var ids: [AgentApproval.ID] = []
        while true {
            let batch = try connection.all(sql) { row in try EndingApproval(from: &row) }
            if ids.isEmpty, !batch.isEmpty { try isAbout() }
            try end(batch.filter { $0.expiresAt.map { $0 > now } ?? true }, as: .cancelled)
            try end(batch.filter { $0.expiresAt.map { $0 <= now } ?? false }, as: .expired)
            ids += batch.map(\.id)
            if batch.count < Garbage.batch { return ids }
        }
    }

    /// Marks requests as expired that nobody decided in time, at most as many as clean-up takes at once (accounts §0.4).
    func expireApprovals() throws -> Outcome {
        let due = try connection.all(
            """
            SELECT id, user_id FROM agent_approvals WHERE status = 'pending' AND expires_at <= ?
            ORDER BY expires_at LIMIT 500
            """, now
        ) { row in (id: try row.read(AgentApproval.ID.self), user: try row.read(User.ID.self)) }
        guard !due.isEmpty else { return try end([], as: .expired) }
        let users = try lockUsers(due.map(\.user))
        var sql = ComposedSQL(select: EndingApproval.columns, from: "agent_approvals r WHERE r.status = 'pending'")
        sql.append(" AND r.id IN ", oneOf: due.map(\.id))
        sql.append(" ORDER BY r.id FOR UPDATE")
        // One that a merge has given to another user meanwhile comes next time.
        let expired = try connection.all(sql) { row in try EndingApproval(from: &row) }.filter { users[$0.user] != nil }
        return try end(expired, as: .expired)
    }

    /// Deletes requests that have ended, at most as many as clean-up takes at once (accounts §0.4). Nothing ends them a second
    /// time, so that their users need not be locked.
    func deleteApprovals(expiredBefore time: Timestamp) throws -> Outcome {
        let old = try connection.all(
            """
            SELECT id FROM agent_approvals FORCE INDEX (agent_approvals_expires)
            WHERE status IN ('approved', 'rejected', 'expired', 'cancelled') AND expires_at <= ? LIMIT 500
            """, time
        ) { row in try row.read(AgentApproval.ID.self) }
        return try connection.executeMany("DELETE FROM agent_approvals WHERE id = ?", old.sorted()) { [$0] }
    }
}
