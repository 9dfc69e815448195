package import IdentityTokens
import OpenSSL
import Text

/// A browser's sign-in with a provider. It starts with a `state`, which the provider sends back once, and ends with a
/// handle of its own (accounts §2.4).
package struct ProviderTrip: Sendable {
    package typealias ID = Identifier<ProviderTrip>

    /// How a trip ended.
    package enum Outcome: Sendable, Equatable {
        case proved(IdentityToken, PersonName?)
        case failed(Reason)
    }

    package enum Reason: String, Codable, Sendable {
        /// The user cancelled the sign-in.
        case cancelled
        /// The provider's answer was refused.
        case rejected
        /// The provider's keys cannot be fetched now.
        case unavailable
    }

    package let id: ID
    package let rawNonce: String
    /// The handle of the pending request.
    let handle: String

    static let lifetime = Duration.seconds(600)

    /// The value that the provider puts into the token (accounts §1.5).
    package var nonce: String { sha256(rawNonce.utf8).hexadecimal }
}

/// The end of a trip: how it ended, and for what.
package struct ProviderArrival: Sendable {
    let trip: ProviderTrip.ID
    package let outcome: ProviderTrip.Outcome
    /// The handle of the pending request.
    package let requestHandle: String
}
