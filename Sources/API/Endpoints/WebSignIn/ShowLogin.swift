import Accounts
import HTTP
import IdentityTokens
import Time

/// `GET /oauth/login` (accounts §2.4): the ways to sign in, for a request that waits.
@Sendable func showLogin(_ call: Call, _ visitor: Visitor) throws -> Response {
    let parameters = call.queryParameters
    let pending = try call.pendingRequest(parameters["request"], of: visitor)
    var application: Application?
    var formTarget: FormTarget?
    if case .authorization(let request) = pending.purpose {
        application = try call.application(of: request)
        formTarget = FormTarget(redirectURI: request.redirectURI)
    }
    let page = LoginPage(
        application: application?.name, choices: call.choices(for: pending),
        notice: LoginPage.Notice(parameters),
        signedIn: pending.counting(visitor.session).map { session in
            (
                Account(session.user),
                call.form(to: "/oauth/consent", for: pending, .init("decision", "continue"))
            )
        })
    return .page(page, in: call.language, formTarget: formTarget)
}

extension Call {
    /// The application that a waiting request is of.
    ///
    /// - Throws: the page that says that it has changed meanwhile.
    func application(of request: AuthorizationRequest) throws -> Application {
        guard let application = try database.read({ try $0.client(request.clientID) }), application.isActive else {
            throw ErrorPage.Problem.unknownApplication
        }
        guard application.redirectURIs.contains(where: { $0.utf8.elementsEqual(request.redirectURI.utf8) }) else {
            throw ErrorPage.Problem.unknownRedirect
        }
        return application
    }

    /// The providers that people in browsers can sign in with: those the relying party would like to see, if any.
    fileprivate func choices(for pending: PendingRequest) -> [LoginPage.Choice] {
        let offered = Provider.allCases.filter { accounts.identityTokens.providers[$0]?.webClientID != nil }
        let wanted: [AuthorizationRequest.SignInOption] =
            if case .authorization(let request) = pending.purpose { request.signInOptions } else { [] }
        let narrowed = offered.filter { wanted.map(\.rawValue).contains($0.rawValue) }
        return (narrowed.isEmpty ? offered : narrowed).map {
            LoginPage.Choice(provider: $0, href: pending.path("/auth/\($0.rawValue)/web/start"))
        }
    }
}

extension Account {
    init(_ user: User) { self.init(name: user.nickname ?? user.name, email: user.contactEmail) }
}

extension LoginPage.Notice {
    private static let purgeAt = "purge_at"

    /// What the address of the page says went wrong.
    fileprivate init?(_ parameters: QueryParameters) {
        switch parameters["error"] {
        case "cancelled": self = .cancelled
        case "failed": self = .failed
        case "unavailable": self = .unavailable
        case "account_deleted":
            guard let seconds = parameters[Self.purgeAt].flatMap(Int64.init), (0..<1 << 34).contains(seconds) else {
                return nil
            }
            self = .accountDeleted(purgeAt: Timestamp(seconds: seconds))
        case let code?:
            guard let provider = Provider.allCases.first(where: { code == Self.code(linkedTo: $0) }) else { return nil }
            self = .linkedToOtherAccount(provider)
        case nil: return nil
        }
    }

    /// The same as a query.
    var query: String {
        switch self {
        case .cancelled: "error=cancelled"
        case .failed: "error=failed"
        case .unavailable: "error=unavailable"
        case .accountDeleted(let purgeAt): "error=account_deleted&\(Self.purgeAt)=\(purgeAt.seconds)"
        case .linkedToOtherAccount(let provider): "error=\(Self.code(linkedTo: provider))"
        }
    }

    private static func code(linkedTo provider: Provider) -> String {
        "email_linked_to_other_\(provider.rawValue)_account"
    }
}
