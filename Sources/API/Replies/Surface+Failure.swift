import Accounts
import HTTP

extension Surface {
    /// Every refusal of the accounts specification with its status and body (Annex B).
    func refusal(_ failure: Failure) -> Response {
        switch failure {
        case .invalidRequest: refusal(.badRequest, "invalid_request")
        case .invalidToken: bearerRefusal(.unauthorized, "invalid_token")
        case .insufficientScope: bearerRefusal(.forbidden, "insufficient_scope")
        case .anonymousNotAllowed: refusal(.forbidden, "anonymous_not_allowed")
        case .unknownPlatform: refusal(.unprocessableContent, "unknown_platform")
        case .unknownProvider: refusal(.unprocessableContent, "unknown_provider")
        case .invalidDeviceSecret: refusal(.unauthorized, "invalid_device_secret")
        case .invalidIdentityToken(let reason):
            refusal(.unprocessableContent, ErrorReply(error: "invalid_identity_token", errorDescription: reason))
        case .emailLinkedToOtherIdentity(let provider):
            refusal(.unprocessableContent, "email_linked_to_other_\(provider.rawValue)_account")
        case .accountDeleted(let purgeAt):
            refusal(.unprocessableContent, ErrorReply(error: "account_deleted", purgeAt: purgeAt.iso8601))
        case .deviceClaimedByOtherUser: refusal(.conflict, "device_claimed_by_other_user")
        case .providerAlreadyConnected: refusal(.unprocessableContent, "provider_already_connected")
        case .identityOwnedByAnotherAccount: refusal(.conflict, "identity_owned_by_another_account")
        case .identityNotConnected: refusal(.notFound, "identity_not_connected")
        case .notConnected: refusal(.notFound, "not_connected")
        case .lastIdentity: refusal(.unprocessableContent, "last_identity")
        case .invalidContactEmail: refusal(.unprocessableContent, "invalid_contact_email")
        case .nonAnonymousCaller: refusal(.unprocessableContent, "non_anonymous_caller")
        case .invalidSwapTicket: refusal(.unprocessableContent, "invalid_swap_ticket")
        case .identityDoesNotResolveToExistingAccount:
            refusal(.unprocessableContent, "identity_does_not_resolve_to_existing_account")
        case .identityBelongsToAnotherAnonymousUser:
            refusal(.unprocessableContent, "identity_belongs_to_another_anonymous_user")
        case .planChanged: refusal(.preconditionFailed, "plan_changed")
        case .idempotencyKeyReused: refusal(.unprocessableContent, "idempotency_key_reused")
        case .notFound: refusal(.notFound, "not_found")
        case .developerRequired: refusal(.forbidden, "developer_required")
        case .clientTypeImmutable: refusal(.unprocessableContent, "client_type_immutable")
        case .invalidRedirectURI(let reason):
            refusal(
                .unprocessableContent, ErrorReply(error: "invalid_redirect_uri", errorDescription: reason.rawValue))
        case .invalidWebhookURL: refusal(.unprocessableContent, "invalid_webhook_url")
        case .unknownSub: refusal(.notFound, "unknown_sub")
        case .unknownUserCode: refusal(.notFound, "unknown_user_code")
        case .rateLimited(let wait):
            refusal(
                .tooManyRequests, "rate_limited",
                headers: [Response.Field("Retry-After", String(wait.wholeSecondsRoundedUp))])
        case .temporarilyUnavailable:
            refusal(.serviceUnavailable, "temporarily_unavailable", headers: [Response.Field("Retry-After", "1")])
        }
    }

    /// RFC 6750 §3.
    private func bearerRefusal(_ status: Status, _ code: String) -> Response {
        refusal(status, code, headers: [Response.Field("WWW-Authenticate", "Bearer error=\"\(code)\"")])
    }
}

extension Duration {
    /// Retry-After (RFC 9110 §10.2.3): who waits that long has waited long enough.
    var wholeSecondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        return max(1, attoseconds > 0 ? seconds + 1 : seconds)
    }
}
