import Accounts
import Database
import HTTP
import Pages

/// `GET /oauth/push` (accounts §2.4): shows the number, and loads itself again until the person has decided. Then the browser
/// that began is signed in.
@Sendable func showPushApproval(_ call: Call, _ visitor: Visitor) throws -> Response {
    let parameters = call.queryParameters
    let pending = try call.pendingRequest(parameters["request"], of: visitor)
    let id = parameters["id"] ?? ""
    let progress = try call.database.find { try call.accounts.progress(of: id, in: pending.browser, $0) }
    switch progress {
    case nil: throw ErrorPage.Problem.expired
    case .unscanned: return call.page(.scan("\(call.accounts.settings.issuer)/oauth/qr/\(id)"), of: id, for: pending)
    case .waiting(let number): return call.page(.number(number), of: id, for: pending)
    case .over: return .notApproved(for: pending)
    case .approved:
        return try call.commit { transaction in
            let cookie = try call.accounts.completePushApproval(
                id, in: pending.browser, replacing: visitor.sessionCookie, in: transaction)
            guard let cookie else { return .notApproved(for: pending) }
            return .redirect(.seeOther, to: pending.nextPath, headers: [call.setting(.session, cookie)])
        }
    }
}

extension Call {
    fileprivate func page(_ step: PushApprovalPage.Step, of id: String, for pending: PendingRequest) -> Response {
        let page = PushApprovalPage(
            step, path: "\(pending.path("/oauth/push"))&id=\(id)", loginPath: pending.path("/oauth/login"))
        return .page(page, in: language, headers: [HeaderField("Refresh", "\(PushApprovalPage.interval)")])
    }
}

extension Response {
    fileprivate static func notApproved(for pending: PendingRequest) -> Response {
        .redirect(.seeOther, to: "\(pending.path("/oauth/login"))&\(LoginPage.Notice.notApproved.query)")
    }
}
