import Accounts
import Database
import HTTP
import Pages
import Time

/// `GET /account/approvals?before=` (accounts §4.1, §4.8): what agents asked, newest first. A decision needs the app's
/// credentials.
@Sendable func showOwnApprovals(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    let filter = ApprovalFilter(
        status: nil, limit: ApprovalFilter.defaultLimit, before: call.queryParameters["before"])
    let (page, hasMore) = try call.database.read { try call.accounts.approvals(of: visitor.user.id, filter, $0) }
    let now = call.accounts.clock.now
    let paging = Paging(
        path: call.request.path, isFirst: filter.before == nil, cursor: hasMore ? page.last?.approval.publicID : nil)
    return .page(
        ApprovalsPage(page.map { ApprovalsPage.Approval($0, at: now) }, paging: paging), of: visitor, call)
}

extension ApprovalsPage.Approval {
    fileprivate init(_ shown: ShownApproval, at now: Timestamp) {
        let approval = shown.approval
        let status = approval.status(at: now)
        self.init(
            title: approval.title, body: approval.body, action: approval.actionType, agent: shown.agent.name,
            status: status.rawValue, askedAt: approval.createdAt,
            openUntil: status == .pending ? approval.expiresAt : nil, decidedAt: approval.decidedAt)
    }
}
