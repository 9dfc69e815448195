import Accounts
import Database
import HTTP
import JSON
import Time

/// A request as the app is told of it, without its number.
struct PushApprovalReply: Encodable {
    var id: String
    var status: String
    @Nullable var ip: String?
    @Nullable var userAgent: String?
    @Nullable var application: String?
    var createdAt: String
    var expiresAt: String

    init(_ approval: PushApproval) {
        id = approval.publicID
        status = approval.status.rawValue
        ip = approval.address
        userAgent = approval.userAgent
        application = approval.application
        createdAt = approval.createdAt.iso8601
        expiresAt = approval.expiresAt.iso8601
    }
}

private struct PushApprovalsReply: Encodable {
    var pushApprovals: [PushApprovalReply]
}

/// `GET /api/v1/me/push_approvals` (accounts §4.2): the latest sign-ins that ask for the caller's approval, newest first.
@Sendable func listPushApprovals(_ call: Call, _ caller: Caller) throws -> Response {
    let approvals = try call.database.read { try call.accounts.pushApprovals(of: caller.id, $0) }
    return .json(.ok, PushApprovalsReply(pushApprovals: approvals.map(PushApprovalReply.init)))
}
