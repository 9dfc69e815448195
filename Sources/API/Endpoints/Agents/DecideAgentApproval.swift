import Accounts
import HTTP
import JSON
import Text

private struct DecideAgentApprovalRequest: Decodable {
    var decision: String?
    @Exact var numberMatch: String?
    @Exact var displayPayloadHash: String?
}

/// `POST /api/v1/me/agent_approvals/{id}/decide` (accounts §4.1): the request as it is now.
@Sendable func decideAgentApproval(_ call: Call, _ caller: Caller) throws -> Response {
    let body = try call.decode(DecideAgentApprovalRequest.self)
    guard let verdict = body.decision.flatMap(ApprovalDecision.Verdict.init(bytes:)) else {
        throw Failure.invalidRequest
    }
    let decision = ApprovalDecision(
        verdict: verdict, numberMatch: body.numberMatch, displayPayloadHash: body.displayPayloadHash)
    return try call.commit { transaction in
        switch try call.accounts.decideApproval(call.arguments[0], decision, by: caller, in: transaction) {
        case .success(let shown): .json(.ok, AgentApprovalReply(shown, at: transaction.now, in: call))
        case .failure(let failure): call.surface.refusal(failure)
        }
    }
}
