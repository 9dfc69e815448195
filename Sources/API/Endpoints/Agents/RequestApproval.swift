import Accounts
import HTTP
import JSON
import Logging
import Pages
import Push
import Time

private struct RequestApprovalRequest: Decodable {
    @Exact var actionType: String?
    @Exact var title: String?
    @Exact var body: String?
    @Exact var context: JSONValue?
    var ttlSeconds: Int?

    var request: ApprovalRequest {
        get throws {
            let context: JSONObject
            switch self.context {
            case nil, .null?: context = JSONObject([])
            case .object(let object)?: context = object
            default: throw Failure.invalidRequest
            }
            return ApprovalRequest(
                actionType: actionType, title: title, body: body, context: context,
                timeToLive: ttlSeconds.map { .seconds($0) })
        }
    }
}

private struct ApprovalReceiptReply: Encodable {
    let authReqID: String
    let status: String
    let actionType: String
    let numberMatch: String
    let displayPayloadHash: String
    /// Seconds, rounded up.
    let expiresIn: Int64
    let interval: Int64

    init(_ receipt: ApprovalReceipt, at now: Timestamp, in call: Call) {
        if let fault = receipt.fault {
            call.logger.error(
                "the number of an agent's request cannot be opened",
                metadata: ["approval": "\(receipt.approval.publicID)", "error": "\(fault)"])
        }
        let (approval, rest) = (receipt.approval, receipt.approval.rest(at: now))
        authReqID = approval.publicID
        status = approval.status(at: now).rawValue
        actionType = approval.actionType
        numberMatch = receipt.numberMatch
        displayPayloadHash = approval.displayPayloadHash
        expiresIn = rest > .zero ? rest.wholeSecondsRoundedUp : 0
        interval = AgentApproval.interval.components.seconds
    }
}

/// `POST /api/agents/approvals` (accounts §4.1): 201, and 200 with the present status for what the agent asked before. The
/// user's phones are told of what is new.
@Sendable func requestApproval(_ call: Call, _ agent: AgentCaller) throws -> Response {
    var new: AgentApproval?
    var response = try call.commit(as: agent) { transaction in
        new = nil
        guard let key = call.request.headers.first("idempotency-key") else { throw Failure.missingIdempotencyKey }
        guard IdempotencyKey.isKey(key) else { throw Failure.invalidRequest }
        let request = try call.decode(RequestApprovalRequest.self).request
        let receipt = try call.accounts.requestApproval(
            request, under: key, body: call.body, by: agent, in: transaction)
        if receipt.isNew { new = receipt.approval }
        return .json(receipt.isNew ? .created : .ok, ApprovalReceiptReply(receipt, at: transaction.now, in: call))
    }
    if let new {
        let texts = call.language.texts
        response.afterwards = call.notifying(
            new.user,
            PushNotification(
                .agentApproval, new.publicID, title: texts.agentPushTitle, text: texts.agentPushText,
                expiresAt: new.expiresAt ?? call.accounts.clock.now, at: call.accounts.settings.issuer))
    }
    return response
}
