import Accounts
import Database
import ErrorCodes
import HTTP
import JSON
import Pages
import Time

/// `POST /api/v1/oauth/authorize` (accounts §2.3): the server's own app answers a relying party's request for its user.
@Sendable func authorizeNatively(_ call: Call, _ caller: Caller) throws -> Response {
    let body = try call.decode(Exact<JSONValue>.self)
    let parameters = try AuthorizationParameters(body.wrappedValue)
    let (request, application, dropped) = try call.checkNatively(parameters, caller)
    switch parameters["decision"] ?? "approve" {
    case "approve": break
    case "deny": return .json(.ok, DeniedReply(request))
    default: throw Failure.invalidRequest
    }
    return try call.commit { transaction in
        let authorization = try call.accounts.authorize(
            request, for: application, by: caller, isApproved: !request.prompts.contains(.none), in: transaction)
        switch authorization {
        case .code(let code):
            try transaction.noteDropped(dropped, for: application)
            return .json(.ok, CodeReply(code, request))
        case .consentRequired: throw OAuthError(.consentRequired, "the user must be asked for consent")
        case .anonymousNotAllowed: throw Failure.anonymousNotAllowed
        }
    }
}

/// `GET /api/v1/oauth/authorize/preview` (accounts §2.3): what the app shows before it asks.
@Sendable func previewAuthorization(_ call: Call, _ caller: Caller) throws -> Response {
    let (request, application, _) = try call.checkNatively(
        AuthorizationParameters(query: call.request.query), caller)
    let standing = try call.database.read {
        try call.accounts.consentStanding(of: caller.user, for: request, application, $0)
    }
    return .json(.ok, PreviewReply(request, application, standing))
}

extension Call {
    /// Makes the checks of accounts §2.2, with error codes in place of pages and redirects. The user cannot sign in
    /// again here, so a request that needs a new sign-in, or another user, is refused.
    fileprivate func checkNatively(
        _ parameters: AuthorizationParameters, _ caller: Caller
    ) throws -> (AuthorizationRequest, Application, dropped: Scopes) {
        let application = try client(of: parameters)
        switch (parameters.check(for: application), application) {
        case (.valid(let request, let dropped), let application?):
            noteFaults(parameters, of: application, dropped: dropped)
            guard request.takes(signInAt: caller.authenticatedAt, now: accounts.clock.now) else {
                throw OAuthError(.loginRequired, "the user must sign in again in a browser")
            }
            let meant = try hinted(request, by: parameters)
            guard try database.read({ try accounts.isHinted(caller.id, by: meant, of: application, $0) }) else {
                throw OAuthError.otherUser
            }
            return (meant, application, dropped)
        case (.refused(let error, _), let application):
            if let application { noteFaults(parameters, of: application) }
            throw error
        case (.unusable(.invalidRedirectURI), _):
            throw OAuthError(.invalidRequest, "redirect_uri is not registered for this client")
        case (.unusable(.unknownClient), _), (.valid, nil): throw OAuthError(.invalidClient, "unknown client")
        }
    }
}

private struct CodeReply: Encodable {
    let code: String
    let state: String
    let redirectURI: String
    let redirectTo: String
    let expiresIn = AuthorizationCode.lifetime.components.seconds

    init(_ code: String, _ request: AuthorizationRequest) {
        self.code = code
        state = QueryParameters.decoded(request.state.utf8)
        redirectURI = request.redirectURI
        redirectTo = request.redirect(code: code)
    }
}

private struct DeniedReply: Encodable {
    let error = ErrorCode.accessDenied
    let state: String
    let redirectTo: String

    init(_ request: AuthorizationRequest) {
        state = QueryParameters.decoded(request.state.utf8)
        redirectTo = request.redirect(.denied)
    }
}

private struct PreviewReply: Encodable {
    struct App: Encodable {
        let clientID: String
        let name: String
        @Nullable var appLinkURL: String?
    }

    struct RequestedScope: Encodable {
        let name: String
        let description: String
        let granted: Bool
    }

    let application: App
    let scopes: [RequestedScope]
    let consentRequired: Bool
    let anonymousAllowed: Bool
    let redirectURI: String

    init(_ request: AuthorizationRequest, _ application: Application, _ standing: ConsentStanding) {
        self.application = App(
            clientID: application.clientID, name: application.name, appLinkURL: application.appLinkURL)
        scopes = request.scopes.names.map {
            RequestedScope(
                name: $0, description: Language.english.texts.scope($0), granted: standing.granted.contains($0))
        }
        consentRequired = standing.isRequired
        anonymousAllowed = application.allowAnonymousGrants
        redirectURI = request.redirectURI
    }
}
