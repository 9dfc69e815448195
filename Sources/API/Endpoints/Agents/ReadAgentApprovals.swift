import Accounts
import Database
import HTTP
import JSON
import Logging
import Text
import Time

/// A request as the user it is addressed to sees it: never with the number that the agent shows.
struct AgentApprovalReply: Encodable {
    let id: String
    let status: String
    let agentID: String
    let agentName: String
    let agentType: String
    let actionType: String
    let title: String
    let body: String
    /// Nil if it cannot be opened.
    @Nullable var context: KeptJSON?
    let displayPayloadHash: String
    let createdAt: String
    @Nullable var expiresAt: String?
    @Nullable var decidedAt: String?

    /// A context that cannot be opened is logged: it must not hide the rest.
    init(_ shown: ShownApproval, at now: Timestamp, in call: Call) {
        let (approval, agent) = (shown.approval, shown.agent)
        id = approval.publicID
        status = approval.status(at: now).rawValue
        agentID = agent.publicID
        agentName = agent.name
        agentType = agent.kind.rawValue
        actionType = approval.actionType
        title = approval.title
        body = approval.body
        var opened: KeptJSON?
        do {
            opened = try approval.context(call.accounts.serverKey)
        } catch {
            call.logger.error(
                "the context of an agent's request cannot be opened",
                metadata: ["approval": "\(approval.publicID)", "error": "\(error)"])
        }
        context = opened
        displayPayloadHash = approval.displayPayloadHash
        createdAt = approval.createdAt.iso8601
        expiresAt = approval.expiresAt?.iso8601
        decidedAt = approval.decidedAt?.iso8601
    }
}

private struct AgentApprovalsReply: Encodable {
    let agentApprovals: [AgentApprovalReply]
    @Nullable var nextCursor: String?
}

/// `GET /api/v1/me/agent_approvals?status&limit&before` (accounts §4.1), newest first.
@Sendable func listAgentApprovals(_ call: Call, _ caller: Caller) throws -> Response {
    let parameters = call.queryParameters
    let status = try parameters["status"].map { text in
        guard let status = AgentApproval.Status(bytes: text) else { throw Failure.invalidRequest }
        return status
    }
    let filter = ApprovalFilter(
        status: status,
        limit: min(try parameters.pageLimit() ?? ApprovalFilter.defaultLimit, ApprovalFilter.largestLimit),
        before: parameters["before"])
    let (page, hasMore) = try call.database.read { try call.accounts.approvals(of: caller.id, filter, $0) }
    let now = call.accounts.clock.now
    return .json(
        .ok,
        AgentApprovalsReply(
            agentApprovals: page.map { AgentApprovalReply($0, at: now, in: call) },
            nextCursor: hasMore ? page.last?.approval.publicID : nil))
}

/// `GET /api/v1/me/agent_approvals/{id}` (accounts §4.1).
@Sendable func showAgentApproval(_ call: Call, _ caller: Caller) throws -> Response {
    let shown = try call.database.read { try call.accounts.approval(call.arguments[0], of: caller.id, $0) }
    return .json(.ok, AgentApprovalReply(shown, at: call.accounts.clock.now, in: call))
}
