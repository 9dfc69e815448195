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
    case accountTooLarge
    case idempotencyKeyReused
    case invalidCursor
    case notFound
    case developerRequired
    case adminRequired
    case clientTypeImmutable
    case invalidRedirectURI(InvalidRedirectURI.Reason)
    case invalidWebhookURL
    case unknownSub
    case unknownUserCode
    case invalidSignature
    case nonceReplay
    case missingIdempotencyKey
    case actionNotAllowed
    case ipNotAllowed
    case bearerOnlyDisabled
    case tooManyAgents
    case approvalNotFound
    case idempotencyConflict
    /// With the members that are missing or malformed.
    case invalidApproval(fields: [String])
    case alreadyDecided
    case approvalExpired
    case payloadChanged
    case numberMismatch
    /// With the rows that are in the way.
    case undoConflict([UndoConflict])
    case undoNotPossible(UndoObstacle)
    case slowDown(retryAfter: Duration)
    case coolDown(retryAfter: Duration)
    case tooManyPending(retryAfter: Duration)
    case rateLimited(retryAfter: Duration)
    case temporarilyUnavailable
}
