import Accounts
import HTTP
import JSON

private struct ApproveRequest: Decodable {
    @Exact var numberMatch: String?
}

private struct DecisionReply: Encodable {
    let id: String
    let status: String
}

/// `POST /api/v1/me/push_approvals/{id}/approve` (accounts §4.2): with the number that the browser shows.
@Sendable func approvePushApproval(_ call: Call, _ caller: Caller) throws -> Response {
    guard let number = try call.decode(ApproveRequest.self).numberMatch else { throw Failure.invalidRequest }
    return try call.decide(.approve(number: number), by: caller)
}

/// `POST /api/v1/me/push_approvals/{id}/deny` (accounts §4.2).
@Sendable func denyPushApproval(_ call: Call, _ caller: Caller) throws -> Response {
    try call.decide(.deny, by: caller)
}

extension Call {
    fileprivate func decide(_ decision: PushDecision, by caller: Caller) throws -> Response {
        let id = arguments[0]
        return try commit { transaction in
            switch try accounts.decidePushApproval(id, decision, by: caller, in: transaction) {
            case .success(let status): .json(.ok, DecisionReply(id: id, status: status.rawValue))
            case .failure(let failure): surface.refusal(failure)
            }
        }
    }
}
