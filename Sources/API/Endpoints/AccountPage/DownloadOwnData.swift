import Accounts
import HTTP
import Pages

/// `GET /account/export`: asks whether a copy of everything is to be downloaded.
@Sendable func askToDownloadOwnData(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    return .page(call.exportQuestion(visitor), of: visitor, call)
}

/// `POST /account/export` (accounts §4.8): the same document as `GET /api/v1/me/export`, as a file; both together three
/// times a day.
@Sendable func downloadOwnData(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    do {
        return try call.export(
            by: visitor.caller,
            headers: [
                .attachment(filename: "account-\(visitor.user.id.rawValue).json"),
                HeaderField("X-Content-Type-Options", "nosniff"),
            ])
    } catch Failure.accountTooLarge {
        return .account(.tooLarge)
    } catch Failure.rateLimited(let wait) {
        var response = Response.page(call.exportQuestion(visitor, isRefused: true), of: visitor, call)
        response.status = .tooManyRequests
        response.headers.append(HeaderField("Retry-After", String(wait.wholeSecondsRoundedUp)))
        return response
    }
}

extension Call {
    fileprivate func exportQuestion(_ visitor: AccountVisitor, isRefused: Bool = false) -> AccountQuestionPage {
        AccountQuestionPage(
            .export(isRefused: isRefused), about: ShownUser(visitor.user), form: accountForm(of: visitor))
    }
}
