import Accounts
import HTTP
import Pages
import Text

/// `GET /oauth/device` (RFC 8628 §3.3, accounts §2.11): the page where a user types the code that a device shows.
@Sendable func showDevice(_ call: Call, _ visitor: Visitor) throws -> Response {
    guard let handle = call.queryParameters["request"] else { return try visit(call, visitor) }
    let pending = try call.pendingRequest(handle, of: visitor)
    guard case .device(let userCode) = pending.purpose else { throw ErrorPage.Problem.expired }
    guard visitor.session != nil else { return .redirect(.seeOther, to: pending.path("/oauth/login")) }
    return call.devicePage(for: pending, userCode: userCode)
}

/// A visit is stored like a relying party's request, so that it can continue after the sign-in.
private func visit(_ call: Call, _ visitor: Visitor) throws -> Response {
    let browser = visitor.browser ?? Browser()
    let userCode = call.queryParameters["user_code"].map { $0.prefix(scalars: 20) }
    return try call.commit { transaction in
        let pending = try transaction.store(.device(userCode: userCode), of: nil, in: browser)
        return .redirect(
            .seeOther, to: pending.path(visitor.session == nil ? "/oauth/login" : "/oauth/device"),
            headers: visitor.browser == nil ? [call.setting(.browser, browser.cookie)] : [])
    }
}

extension Call {
    /// - Parameter notice: what is wrong with the typed code.
    func devicePage(
        for pending: PendingRequest, userCode: String?, _ notice: DevicePage.Notice? = nil
    ) -> Response {
        .page(
            DevicePage(
                form: form(to: "/oauth/device", for: pending), userCode: userCode ?? "", notice: notice),
            in: language)
    }
}
