package import HTTP

/// The `error` of an answer under `/api` or `/oauth`: every code of accounts Annex B and of OAuth, each once.
///
/// This target owns the one list of codes: how a code is written, the statuses it comes with, and what it means to
/// people. Answers, the page at `/oauth/errors` and the documents take them from here or are checked against it. It does
/// not own who is refused, nor what else an answer says. Codes of parts that are not built yet are not in it.
package enum ErrorCode: String, CaseIterable, Sendable, Encodable {
    // RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 8628 §3.5, OpenID Connect Core §3.1.2.6
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case invalidScope = "invalid_scope"
    case unsupportedResponseType = "unsupported_response_type"
    case unsupportedGrantType = "unsupported_grant_type"
    case accessDenied = "access_denied"
    case loginRequired = "login_required"
    case consentRequired = "consent_required"
    case requestNotSupported = "request_not_supported"
    case requestURINotSupported = "request_uri_not_supported"
    case authorizationPending = "authorization_pending"
    case slowDown = "slow_down"
    case expiredToken = "expired_token"

    // Requests and credentials
    case invalidToken = "invalid_token"
    case insufficientScope = "insufficient_scope"
    case rateLimited = "rate_limited"
    case notFound = "not_found"
    case methodNotAllowed = "method_not_allowed"
    case payloadTooLarge = "payload_too_large"
    case misdirectedRequest = "misdirected_request"
    case idempotencyKeyReused = "idempotency_key_reused"
    case invalidCursor = "invalid_cursor"
    case temporarilyUnavailable = "temporarily_unavailable"
    case internalError = "internal_error"

    // Accounts and devices
    case unknownPlatform = "unknown_platform"
    case unknownProvider = "unknown_provider"
    case invalidDeviceSecret = "invalid_device_secret"
    case invalidIdentityToken = "invalid_identity_token"
    case emailLinkedToOtherAppleAccount = "email_linked_to_other_apple_account"
    case emailLinkedToOtherGoogleAccount = "email_linked_to_other_google_account"
    case accountDeleted = "account_deleted"
    case deviceClaimedByOtherUser = "device_claimed_by_other_user"
    case providerAlreadyConnected = "provider_already_connected"
    case identityOwnedByAnotherAccount = "identity_owned_by_another_account"
    case identityNotConnected = "identity_not_connected"
    case lastIdentity = "last_identity"
    case invalidContactEmail = "invalid_contact_email"

    // Applications
    case anonymousNotAllowed = "anonymous_not_allowed"
    case developerRequired = "developer_required"
    case adminRequired = "admin_required"
    case clientTypeImmutable = "client_type_immutable"
    case invalidRedirectURI = "invalid_redirect_uri"
    case invalidWebhookURL = "invalid_webhook_url"
    case unknownSub = "unknown_sub"
    case unknownUserCode = "unknown_user_code"
    case notConnected = "not_connected"

    // Swapping and merging
    case nonAnonymousCaller = "non_anonymous_caller"
    case anonymousRequester = "anonymous_requester"
    case invalidSwapTicket = "invalid_swap_ticket"
    case identityDoesNotResolveToExistingAccount = "identity_does_not_resolve_to_existing_account"
    case identityBelongsToAnotherAnonymousUser = "identity_belongs_to_another_anonymous_user"
    case planChanged = "plan_changed"
    case missingCredentials = "missing_credentials"
    case conflictingCredentials = "conflicting_credentials"
    case selfMergeForbidden = "self_merge_forbidden"
    case accountTooLarge = "account_too_large"
    case undoConflict = "undo_conflict"
    case undoNotPossible = "undo_not_possible"
    case invalidOTP = "invalid_otp"
    case tokenExpired = "token_expired"
    case tokenConsumed = "token_consumed"

    // Approvals
    case invalidSignature = "invalid_signature"
    case nonceReplay = "nonce_replay"
    case missingIdempotencyKey = "missing_idempotency_key"
    case actionNotAllowed = "action_not_allowed"
    case ipNotAllowed = "ip_not_allowed"
    case bearerOnlyDisabled = "bearer_only_disabled"
    case tooManyAgents = "too_many_agents"
    case approvalNotFound = "approval_not_found"
    case idempotencyConflict = "idempotency_conflict"
    case alreadyDecided = "already_decided"
    case approvalExpired = "approval_expired"
    case payloadChanged = "payload_changed"
    case invalidApproval = "invalid_approval"
    case numberMismatch = "number_mismatch"
    case coolDown = "cool_down"
    case tooManyPending = "too_many_pending"
}

extension ErrorCode {
    /// Where the page has it.
    package enum Section: CaseIterable, Sendable {
        case oauth, requests, accounts, applications, merging, approvals
    }

    package var section: Section { entry.section }

    /// Of an answer that nothing else is said about.
    package var status: Status { entry.status }

    /// All that it comes with, in ascending order: 302 is that of a redirect which takes it to the redirect URI.
    package var statuses: [Status] { ([entry.status] + entry.otherStatuses).sorted { $0.code < $1.code } }

    /// What it means and what to do about it, in English.
    package var meaningInEnglish: String { entry.en }

    package var meaningInKorean: String { entry.ko }
}
