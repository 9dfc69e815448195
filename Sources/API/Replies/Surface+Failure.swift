import Accounts
import ErrorCodes
import HTTP
import IdentityTokens

extension Surface {
    /// Every refusal of the accounts specification with its code, from which its status follows, and what else it says
    /// (Annex B).
    func refusal(_ failure: Failure) -> Response {
        switch failure {
        case .invalidRequest: refusal(with: .invalidRequest)
        case .invalidToken: bearerRefusal(.invalidToken)
        case .insufficientScope: bearerRefusal(.insufficientScope)
        case .anonymousNotAllowed: refusal(with: .anonymousNotAllowed)
        case .unknownPlatform: refusal(with: .unknownPlatform)
        case .unknownProvider: refusal(with: .unknownProvider)
        case .invalidDeviceSecret: refusal(with: .invalidDeviceSecret)
        case .invalidIdentityToken(let reason):
            refusal(ErrorReply(error: .invalidIdentityToken, errorDescription: reason))
        case .emailLinkedToOtherIdentity(let provider): refusal(with: .emailLinkedToOther(provider))
        case .accountDeleted(let purgeAt): refusal(ErrorReply(error: .accountDeleted, purgeAt: purgeAt.iso8601))
        case .deviceClaimedByOtherUser: refusal(with: .deviceClaimedByOtherUser)
        case .providerAlreadyConnected: refusal(with: .providerAlreadyConnected)
        case .identityOwnedByAnotherAccount: refusal(with: .identityOwnedByAnotherAccount)
        case .identityNotConnected: refusal(with: .identityNotConnected)
        case .notConnected: refusal(with: .notConnected)
        case .lastIdentity: refusal(with: .lastIdentity)
        case .invalidContactEmail: refusal(with: .invalidContactEmail)
        case .nonAnonymousCaller: refusal(with: .nonAnonymousCaller)
        case .invalidSwapTicket: refusal(with: .invalidSwapTicket)
        case .identityDoesNotResolveToExistingAccount: refusal(with: .identityDoesNotResolveToExistingAccount)
        case .identityBelongsToAnotherAnonymousUser: refusal(with: .identityBelongsToAnotherAnonymousUser)
        case .planChanged: refusal(with: .planChanged)
        case .idempotencyKeyReused: refusal(with: .idempotencyKeyReused)
        case .notFound: refusal(with: .notFound)
        case .developerRequired: refusal(with: .developerRequired)
        case .clientTypeImmutable: refusal(with: .clientTypeImmutable)
        case .invalidRedirectURI(let reason):
            refusal(ErrorReply(error: .invalidRedirectURI, errorDescription: reason.rawValue))
        case .invalidWebhookURL: refusal(with: .invalidWebhookURL)
        case .unknownSub: refusal(with: .unknownSub)
        case .unknownUserCode: refusal(with: .unknownUserCode)
        case .rateLimited(let wait):
            refusal(
                with: .rateLimited, headers: [Response.Field("Retry-After", String(wait.wholeSecondsRoundedUp))])
        case .temporarilyUnavailable:
            refusal(with: .temporarilyUnavailable, headers: [Response.Field("Retry-After", "1")])
        }
    }

    /// RFC 6749 §5.2: a client that could not be authenticated gets 401, everything else 400. Native authorize (accounts
    /// §2.3) has its own endpoints' codes, all of them 400.
    func refusal(_ error: OAuthError, to request: Request) -> Response {
        let reply = ErrorReply(error: error.code, errorDescription: error.description)
        guard isOAuth else { return refusal(reply, .badRequest) }
        let triedBasic = error.code == .invalidClient && request.headers.first("authorization") != nil
        return refusal(
            reply, headers: triedBasic ? [Response.Field("WWW-Authenticate", "Basic realm=\"merganser\"")] : [])
    }

    /// RFC 6750 §3.
    private func bearerRefusal(_ code: ErrorCode) -> Response {
        refusal(with: code, headers: [Response.Field("WWW-Authenticate", "Bearer error=\"\(code.rawValue)\"")])
    }
}

extension ErrorCode {
    static func emailLinkedToOther(_ provider: Provider) -> ErrorCode {
        switch provider {
        case .apple: .emailLinkedToOtherAppleAccount
        case .google: .emailLinkedToOtherGoogleAccount
        }
    }
}

extension Duration {
    /// Retry-After (RFC 9110 §10.2.3): who waits that long has waited long enough.
    var wholeSecondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }
}
