import Accounts
import HTTP
import JSON
import Time

/// A request as its agent sees it.
private struct PolledApprovalReply: Encodable {
    let authReqID: String
    let status: String
    let actionType: String
    let displayPayloadHash: String
    @Nullable var decidedAt: String?
    let decisionToken: String?

    init(_ approval: AgentApproval, at now: Timestamp, decisionToken: String? = nil) {
        authReqID = approval.publicID
        status = approval.status(at: now).rawValue
        actionType = approval.actionType
        displayPayloadHash = approval.displayPayloadHash
        decidedAt = approval.decidedAt?.iso8601
        self.decisionToken = decisionToken
    }
}

/// `GET /api/agents/approvals/{id}` (accounts §4.1).
@Sendable func pollApproval(_ call: Call, _ agent: AgentCaller) throws -> Response {
    try call.commit(as: agent) { transaction in
        let polled = try call.accounts.pollApproval(call.arguments[0], by: agent, in: transaction)
        return .json(
            .ok, PolledApprovalReply(polled.approval, at: transaction.now, decisionToken: polled.decisionToken))
    }
}

/// `POST /api/agents/approvals/{id}/cancel` (accounts §4.1).
@Sendable func cancelApproval(_ call: Call, _ agent: AgentCaller) throws -> Response {
    try call.commit(as: agent) { transaction in
        let approval = try call.accounts.cancelApproval(call.arguments[0], by: agent, in: transaction)
        return .json(.ok, PolledApprovalReply(approval, at: transaction.now))
    }
}
