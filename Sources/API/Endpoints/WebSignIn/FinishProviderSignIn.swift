import Accounts
import Database
import HTTP
import IdentityTokens
import Pages

/// `GET /auth/{provider}/web/finish` (accounts §2.4): the browser that started the trip is back, and its user is signed
/// in. Whoever is signed in already and proved another identity is asked first what becomes of it (accounts §4.8).
@Sendable func finishProviderSignIn(_ call: Call, _ visitor: Visitor) throws -> Response {
    let (provider, _, _) = try call.webProvider()
    guard let browser = visitor.browser else { throw ErrorPage.Problem.otherBrowser }
    guard let handle = call.queryParameters["h"] else { throw ErrorPage.Problem.invalidRequest }
    // The answer, which another node may have stored a moment ago, must not be unknown here.
    try call.database.catchUp()
    return try call.commit { transaction in
        guard let arrival = try call.accounts.arrival(handle, from: provider, in: browser, transaction),
            let pending = try call.accounts.pendingRequest(
                arrival.requestHandle, in: browser, transaction.connection)
        else { throw ErrorPage.Problem.expired }
        if case (.account(_, let trip), .proved) = (pending.purpose, arrival.outcome) {
            return .redirect(.seeOther, to: "/account/\(trip.rawValue)/\(provider.rawValue)?h=\(handle)")
        }
        try transaction.end(arrival)
        switch arrival.outcome {
        case .failed(let reason):
            if case .account = pending.purpose { return .account(AccountPage.Notice(reason)) }
            return .login(for: pending, LoginPage.Notice(reason))
        case .proved(let token, let name):
            let signIn = try call.accounts.signInOnWeb(token, name, replacing: visitor.sessionCookie, in: transaction)
            switch signIn {
            case .signedIn(let cookie):
                return .redirect(.seeOther, to: pending.nextPath, headers: [call.setting(.session, cookie)])
            case .refused(let failure): return .login(for: pending, try LoginPage.Notice(failure))
            }
        }
    }
}

extension Response {
    /// Redirects to the login page, which shows what went wrong.
    fileprivate static func login(for pending: PendingRequest, _ notice: LoginPage.Notice) -> Response {
        .redirect(.seeOther, to: "\(pending.path("/oauth/login"))&\(notice.query)")
    }
}

extension LoginPage.Notice {
    fileprivate init(_ reason: ProviderTrip.Reason) {
        self =
            switch reason {
            case .cancelled: .cancelled
            case .rejected: .failed
            case .unavailable: .unavailable
            }
    }

    /// - Throws: the failure, if it is not a refusal of a sign-in.
    fileprivate init(_ failure: Failure) throws {
        switch failure {
        case .accountDeleted(let purgeAt): self = .accountDeleted(purgeAt: purgeAt)
        case .emailLinkedToOtherIdentity(let provider): self = .linkedToOtherAccount(provider)
        default: throw failure
        }
    }
}
