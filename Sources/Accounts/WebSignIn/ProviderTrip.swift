package import IdentityTokens
import OpenSSL
import Text
import Time

/// A browser on its way to a provider and back: it sets out with a state, which the provider hands back once, and returns
/// with a handle of its own (accounts §2.4).
package struct ProviderTrip: Sendable {
    package typealias ID = Identifier<ProviderTrip>

    /// How a trip ended.
    package enum Outcome: Sendable, Equatable {
        case proved(IdentityToken, PersonName?)
        case failed(Reason)
    }

    package enum Reason: String, Codable, Sendable {
        /// The person turned back.
        case cancelled
        /// What the provider sent is not believed.
        case rejected
        /// The provider's keys cannot be had now.
        case unavailable
    }

    package let id: ID
    package let rawNonce: String
    /// Of the request that the person signs in for.
    let handle: String

    static let lifetime = Duration.seconds(600)

    /// What the provider puts into the token (accounts §1.5).
    package var nonce: String { sha256(rawNonce.utf8).hexadecimal }
}
