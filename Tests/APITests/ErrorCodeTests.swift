import Accounts
import HTTP
import JSON
import Testing
import Time

@testable import API

/// `Golden/errors.txt` is every refusal with its status, headers and body (accounts Annex B).
@Suite struct ErrorCodeTests {
    @Test func theErrorCodesArePinned() throws {
        let surface = Surface(path: "/api/v1/me", errorDocsBase: "https://id.example/oauth/errors", requestID: "id")
        var lines: [String] = []
        var failure = Failure.after(nil)
        while let current = failure {
            lines.append(describe(surface.refusal(current)))
            failure = Failure.after(current)
        }
        try expectGolden("errors.txt", lines)
    }

    private func describe(_ response: Response) -> String {
        ([Answer(response).description] + response.headers.map { "\($0.name): \($0.value)" }).joined(separator: " | ")
    }
}

extension Failure {
    /// One of each case, in the order of their declaration. A switch, so that no case can be forgotten.
    fileprivate static func after(_ failure: Failure?) -> Failure? {
        switch failure {
        case nil: .invalidRequest
        case .invalidRequest: .invalidToken
        case .invalidToken: .insufficientScope
        case .insufficientScope: .anonymousNotAllowed
        case .anonymousNotAllowed: .unknownPlatform
        case .unknownPlatform: .unknownProvider
        case .unknownProvider: .invalidDeviceSecret
        case .invalidDeviceSecret: .invalidIdentityToken("bad signature")
        case .invalidIdentityToken: .emailLinkedToOtherIdentity(.apple)
        case .emailLinkedToOtherIdentity(.apple): .emailLinkedToOtherIdentity(.google)
        case .emailLinkedToOtherIdentity(.google): .accountDeleted(purgeAt: Timestamp(seconds: 1_778_569_200))
        case .accountDeleted: .deviceClaimedByOtherUser
        case .deviceClaimedByOtherUser: .providerAlreadyConnected
        case .providerAlreadyConnected: .identityOwnedByAnotherAccount
        case .identityOwnedByAnotherAccount: .identityNotConnected
        case .identityNotConnected: .notConnected
        case .notConnected: .lastIdentity
        case .lastIdentity: .invalidContactEmail
        case .invalidContactEmail: .nonAnonymousCaller
        case .nonAnonymousCaller: .invalidSwapTicket
        case .invalidSwapTicket: .identityDoesNotResolveToExistingAccount
        case .identityDoesNotResolveToExistingAccount: .identityBelongsToAnotherAnonymousUser
        case .identityBelongsToAnotherAnonymousUser: .planChanged
        case .planChanged: .idempotencyKeyReused
        case .idempotencyKeyReused: .notFound
        case .notFound: .developerRequired
        case .developerRequired: .clientTypeImmutable
        case .clientTypeImmutable: .invalidRedirectURI(.plainHTTP)
        case .invalidRedirectURI: .invalidWebhookURL
        case .invalidWebhookURL: .unknownSub
        case .unknownSub: .unknownUserCode
        case .unknownUserCode: .rateLimited(retryAfter: .milliseconds(1500))
        case .rateLimited: .temporarilyUnavailable
        case .temporarilyUnavailable: nil
        }
    }
}
