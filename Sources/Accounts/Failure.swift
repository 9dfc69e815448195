package import IdentityTokens
package import Time

/// What the accounts specification refuses: one case for each error code (Annex B).
package enum Failure: Error, Equatable {
    case invalidRequest
    case invalidToken
    case invalidClient
    case insufficientScope
    case anonymousNotAllowed
    case unknownPlatform
    case unknownProvider
    case invalidDeviceSecret
    case invalidIdentityToken(String)
    case emailLinkedToOtherIdentity(Provider)
    case accountDeleted(purgeAt: Timestamp)
    case deviceClaimedByOtherUser
    case providerAlreadyConnected
    case identityOwnedByAnotherAccount
    case identityNotConnected
    case notConnected
    case lastIdentity
    case invalidContactEmail
    case nonAnonymousCaller
    case invalidSwapTicket
    case identityDoesNotResolveToExistingAccount
    case identityBelongsToAnotherAnonymousUser
    case anonymousRequester
    case conflictingCredentials
    case missingCredentials
    /// The target's: unlike `invalidToken` it says nothing about the caller's own.
    case invalidMergeToken
    case mergeTokenExpired
    case mergeTokenConsumed
    case invalidOTP
    case selfMergeForbidden
    case planChanged
    case idempotencyKeyReused
    case invalidCursor
    case notFound
    case developerRequired
    case clientTypeImmutable
    case invalidRedirectURI(InvalidRedirectURI.Reason)
    case invalidWebhookURL
    case unknownSub
    case unknownUserCode
    case rateLimited(retryAfter: Duration)
    case temporarilyUnavailable
}
