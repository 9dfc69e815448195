import Accounts
import HTTP
import IdentityTokens
import Pages

/// `GET /oauth/login` (accounts §2.4): the ways to sign in for a pending request.
@Sendable func showLogin(_ call: Call, _ visitor: Visitor) throws -> Response {
    let parameters = call.queryParameters
    let pending = try call.pendingRequest(parameters["request"], of: visitor)
    var formTarget: FormTarget?
    let destination: LoginPage.Destination
    switch pending.purpose {
    case .authorization(let request):
        destination = .application(try call.application(of: request).name)
        formTarget = FormTarget(redirectURI: request.redirectURI)
    case .device: destination = .device
    case .page, .account: destination = .ownPage
    }
    let page = LoginPage(
        for: destination, choices: call.choices(for: pending),
        approval: call.service.push.map { _ in call.form(to: "/oauth/push/start", for: pending) },
        code: call.service.offersCodes ? call.form(to: "/oauth/qr/start", for: pending) : nil,
        notice: LoginPage.Notice(parameters),
        signedIn: pending.counting(visitor.session).map { session in
            (
                ShownUser(session.user),
                call.form(to: "/oauth/consent", for: pending, .init("decision", "continue"))
            )
        })
    return .page(page, in: call.language, formTarget: formTarget)
}

extension Call {
    /// The providers that a browser can sign in with. If the relying party names some of them, only those.
    fileprivate func choices(for pending: PendingRequest) -> [LoginPage.Choice] {
        let offered = webProviders
        let wanted: [AuthorizationRequest.SignInOption] =
            if case .authorization(let request) = pending.purpose { request.signInOptions } else { [] }
        let narrowed = offered.filter { wanted.map(\.rawValue).contains($0.rawValue) }
        return (narrowed.isEmpty ? offered : narrowed).map {
            LoginPage.Choice(provider: $0, href: pending.path("/auth/\($0.rawValue)/web/start"))
        }
    }
}
