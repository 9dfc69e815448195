import JOSE
import JSON
import MariaDB
import Time

/// A request as its agent sees it.
package struct PolledApproval: Sendable {
    package let approval: AgentApproval
    /// A JWT that proves the decision to third parties; nil before it, and 15 minutes after it.
    package let decisionToken: String?
}

extension Accounts {
    /// Answers a poll. Polls for one request come one after the other.
    ///
    /// - Throws: `approvalNotFound`; `slowDown` if the last poll that was answered is less than the interval ago.
    package func pollApproval(
        _ publicID: String, by caller: AgentCaller, in transaction: AccountsTransaction
    ) throws -> PolledApproval {
        guard let approval = try transaction.lockApproval(publicID, of: caller.agent.id) else {
            throw Failure.approvalNotFound
        }
        if let next = approval.lastPolledAt.map({ $0 + AgentApproval.interval }), transaction.now < next {
            throw Failure.slowDown(retryAfter: next - transaction.now)
        }
        try transaction.connection.execute(
            "UPDATE agent_approvals SET last_polled_at = ? WHERE id = ?", transaction.now, approval.id)
        return PolledApproval(
            approval: approval, decisionToken: try decisionToken(for: approval, of: caller.agent, in: transaction))
    }

    /// Withdraws a request. Again, it is the same answer.
    ///
    /// - Throws: `approvalNotFound`, `alreadyDecided`, `approvalExpired`.
    package func cancelApproval(
        _ publicID: String, by caller: AgentCaller, in transaction: AccountsTransaction
    ) throws -> AgentApproval {
        let agent = try transaction.lock(caller)
        guard let approval = try transaction.lockApproval(publicID, of: agent.id) else {
            throw Failure.approvalNotFound
        }
        switch approval.status(at: transaction.now) {
        case .cancelled: return approval
        case .approved, .rejected: throw Failure.alreadyDecided
        case .expired: throw Failure.approvalExpired
        case .pending:
            try transaction.end([EndingApproval(approval)], as: .cancelled)
            return approval.ended(as: .cancelled)
        }
    }

    /// Proves a decision (accounts §4.1). Its time is the decision's, so that an agent cannot make an old one look new.
    private func decisionToken(
        for approval: AgentApproval, of agent: Agent, in transaction: AccountsTransaction
    ) throws -> String? {
        let status = approval.status(at: transaction.now)
        guard status == .approved || status == .rejected, let decidedAt = approval.decidedAt,
            transaction.now < decidedAt + Self.decisionTokenLifetime
        else { return nil }
        let claims: [(String, JSONValue)] = [
            ("iss", .string(settings.issuer)), ("aud", .string(agent.publicID)), ("jti", .string(approval.publicID)),
            ("status", .string(status.rawValue)), ("display_payload_hash", .string(approval.displayPayloadHash)),
            ("iat", .integer(decidedAt.seconds)),
            ("exp", .integer((decidedAt + Self.decisionTokenLifetime).seconds)),
        ]
        return try signingKeys.signer(transaction.connection)
            .sign(JSONValue.object(JSONObject(claims)), type: "approval+jwt")
    }

    private static let decisionTokenLifetime = Duration.seconds(900)
}
