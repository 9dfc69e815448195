import AccountReplies
import Accounts
import ErrorCodes
import HTTP
import IdentityTokens
import Time

extension Surface {
    /// The answer to each failure of the accounts specification: its code, which has a status, and the other members
    /// (Annex B).
    func refusal(_ failure: Failure) -> Response {
        switch failure {
        case .invalidRequest: refusal(with: .invalidRequest)
        case .invalidToken: bearerRefusal(.invalidToken)
        case .invalidClient:
            refusal(with: .invalidClient, headers: [HeaderField("WWW-Authenticate", "Basic realm=\"merganser\"")])
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
        case .anonymousRequester: refusal(with: .anonymousRequester)
        case .conflictingCredentials: refusal(with: .conflictingCredentials)
        case .missingCredentials: refusal(with: .missingCredentials)
        case .invalidMergeToken: refusal(with: .invalidToken)
        case .mergeTokenExpired: refusal(with: .tokenExpired)
        case .mergeTokenConsumed: refusal(with: .tokenConsumed)
        case .invalidOTP: refusal(with: .invalidOTP)
        case .selfMergeForbidden: refusal(with: .selfMergeForbidden)
        case .accountTooLarge: refusal(with: .accountTooLarge)
        case .planChanged: refusal(with: .planChanged)
        case .idempotencyKeyReused: refusal(with: .idempotencyKeyReused)
        case .invalidCursor: refusal(with: .invalidCursor)
        case .notFound: refusal(with: .notFound)
        case .developerRequired: refusal(with: .developerRequired)
        case .adminRequired: refusal(with: .adminRequired)
        case .clientTypeImmutable: refusal(with: .clientTypeImmutable)
        case .invalidRedirectURI(let reason):
            refusal(ErrorReply(error: .invalidRedirectURI, errorDescription: reason.rawValue))
        case .invalidWebhookURL: refusal(with: .invalidWebhookURL)
        case .unknownSub: refusal(with: .unknownSub)
        case .unknownUserCode: refusal(with: .unknownUserCode)
        case .invalidSignature: refusal(with: .invalidSignature)
        case .nonceReplay: refusal(with: .nonceReplay)
        case .missingIdempotencyKey: refusal(with: .missingIdempotencyKey)
        case .actionNotAllowed: refusal(with: .actionNotAllowed)
        case .ipNotAllowed: refusal(with: .ipNotAllowed)
        case .bearerOnlyDisabled: refusal(with: .bearerOnlyDisabled)
        case .tooManyAgents: refusal(with: .tooManyAgents)
        case .approvalNotFound: refusal(with: .approvalNotFound)
        case .idempotencyConflict: refusal(with: .idempotencyConflict)
        case .invalidApproval(let fields): refusal(ErrorReply(error: .invalidApproval, fields: fields))
        case .alreadyDecided: refusal(with: .alreadyDecided)
        case .approvalExpired: refusal(with: .approvalExpired)
        case .payloadChanged: refusal(with: .payloadChanged)
        case .numberMismatch: refusal(with: .numberMismatch)
        case .undoConflict(let conflicts):
            refusal(ErrorReply(error: .undoConflict, conflicts: conflicts.map(UndoConflictReply.init)))
        case .undoNotPossible(let obstacle):
            refusal(ErrorReply(error: .undoNotPossible, reason: obstacle.rawValue))
        case .slowDown(let wait): refusal(with: .slowDown, .tooManyRequests, after: wait)
        case .coolDown(let wait): refusal(with: .coolDown, after: wait)
        case .tooManyPending(let wait): refusal(with: .tooManyPending, after: wait)
        case .rateLimited(let wait): refusal(with: .rateLimited, after: wait)
        case .temporarilyUnavailable:
            refusal(with: .temporarilyUnavailable, headers: [HeaderField("Retry-After", "1")])
        }
    }

    /// An OAuth error (RFC 6749 §5.2): 401 if the client could not be authenticated, otherwise 400. Native authorize
    /// (accounts §2.3) answers every error with 400.
    func refusal(_ error: OAuthError, to request: Request) -> Response {
        let reply = ErrorReply(error: error.code, errorDescription: error.description)
        guard isOAuth else { return refusal(reply, .badRequest) }
        let triedBasic = error.code == .invalidClient && request.headers.first("authorization") != nil
        return refusal(
            reply, headers: triedBasic ? [HeaderField("WWW-Authenticate", "Basic realm=\"merganser\"")] : [])
    }

    /// A refusal of what may be asked again later.
    private func refusal(with code: ErrorCode, _ status: Status? = nil, after wait: Duration) -> Response {
        refusal(
            ErrorReply(error: code), status,
            headers: [HeaderField("Retry-After", String(wait.wholeSecondsRoundedUp))])
    }

    /// A refusal of a bearer token (RFC 6750 §3).
    private func bearerRefusal(_ code: ErrorCode) -> Response {
        refusal(with: code, headers: [HeaderField("WWW-Authenticate", "Bearer error=\"\(code.rawValue)\"")])
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
    /// For Retry-After (RFC 9110 §10.2.3). Rounded up, so that a client that waits this long has waited long enough.
    var wholeSecondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }
}
