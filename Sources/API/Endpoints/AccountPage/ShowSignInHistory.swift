import Accounts
import Database
import HTTP
import Pages

/// `GET /account/history?before=` (accounts §4.3, §4.8): the account's sign-ins and their refusals, newest first.
@Sendable func showSignInHistory(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    let before = call.queryParameters["before"]
    let page = try call.database.read { connection in
        try call.accounts.loginHistory(
            of: visitor.user.id, before: before, limit: LoginHistoryPage.defaultLimit, connection)
    }
    let entries = page.events.map { event in
        SignInHistoryPage.Entry(
            event: event.event, provider: event.provider, address: event.address, userAgent: event.userAgent,
            platform: event.platform, at: event.createdAt)
    }
    let paging = Paging(path: call.request.path, isFirst: before == nil, cursor: page.nextCursor)
    return .page(SignInHistoryPage(entries, paging: paging), of: visitor, call)
}
