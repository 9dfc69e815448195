import JSON
import MariaDB
import Text
import Time

/// A request as the user it is addressed to sees it.
package struct ShownApproval: Sendable {
    package let approval: AgentApproval
    package let agent: ShownAgent
}

/// What a user decides, with what proves that they saw the request and the agent.
package struct ApprovalDecision: Sendable {
    package enum Verdict: String, Sendable, CaseIterable {
        case approved, rejected
    }

    package var verdict: Verdict
    /// The number that the agent shows.
    package var numberMatch: String?
    /// The hash of what the user saw.
    package var displayPayloadHash: String?

    package init(verdict: Verdict, numberMatch: String?, displayPayloadHash: String?) {
        self.verdict = verdict
        self.numberMatch = numberMatch
        self.displayPayloadHash = displayPayloadHash
    }
}

extension Accounts {
    /// Approves or rejects a request. Only the first decision counts.
    ///
    /// - Returns: the request as decided. `numberMismatch` is a result and no error, so that the try is counted; the third
    ///   rejects the request.
    /// - Throws: in this order `approvalNotFound`, `alreadyDecided` (also if the agent withdrew it), `approvalExpired`,
    ///   `payloadChanged`.
    package func decideApproval(
        _ publicID: String, _ decision: ApprovalDecision, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> Result<ShownApproval, Failure> {
        let user = try transaction.lockCaller(caller).caller
        guard let approval = try transaction.lockApproval(publicID, of: user.id),
            let agent = try transaction.connection.shownAgent(approval.agent)
        else { throw Failure.approvalNotFound }
        switch approval.status(at: transaction.now) {
        case .pending: break
        case .expired: throw Failure.approvalExpired
        case .approved, .rejected, .cancelled: throw Failure.alreadyDecided
        }
        guard isUnchanged(approval, agent, for: decision) else { throw Failure.payloadChanged }
        var verdict = decision.verdict
        let isMismatch = try verdict == .approved && !isNumber(decision.numberMatch, of: approval)
        if isMismatch {
            if approval.tries + 1 < AgentApproval.mostTries {
                try transaction.countTry(for: approval)
                return .failure(.numberMismatch)
            }
            verdict = .rejected
        }
        let status: AgentApproval.Status = verdict == .approved ? .approved : .rejected
        try transaction.end([EndingApproval(approval)], as: status, isDecision: true)
        transaction.audit(
            .approvalDecided, user: user.id, actor: caller.actor,
            [
                "approval": .string(publicID), "agent_id": .string(agent.publicID), "status": .string(status.rawValue),
            ])
        if isMismatch { return .failure(.numberMismatch) }
        return .success(ShownApproval(approval: approval.ended(as: status, at: transaction.now), agent: agent))
    }

    /// Whether the rows still are what was hashed when the agent asked, and what the user saw.
    private func isUnchanged(_ approval: AgentApproval, _ agent: ShownAgent, for decision: ApprovalDecision) -> Bool {
        // A context that cannot be opened was changed, too.
        guard let hash = try? approval.computedHash(agent, serverKey) else { return false }
        return hash == approval.displayPayloadHash
            && decision.displayPayloadHash.map { $0.utf8.elementsEqual(hash.utf8) } ?? true
    }

    /// Without a number it is not.
    private func isNumber(_ typed: String?, of approval: AgentApproval) throws -> Bool {
        guard let typed, let number = try approval.secrets(serverKey)?.numberMatch else { return false }
        return typed.utf8.elementsEqual(number.utf8)
    }
}

extension Connection {
    fileprivate func shownAgent(_ id: Agent.ID) throws -> ShownAgent? {
        try first(ComposedSQL(select: ShownAgent.columns, from: "agents a WHERE a.id = ?", id)) { row in
            try ShownAgent(from: &row)
        }
    }
}

extension AccountsTransaction {
    fileprivate func countTry(for approval: AgentApproval) throws {
        let history = try note(.numberMismatch, of: approval)
        try connection.execute(
            "UPDATE agent_approvals SET tries = tries + 1, history_length = ?, history_digest = ? WHERE id = ?",
            history.length, history.digest, approval.id)
    }
}
