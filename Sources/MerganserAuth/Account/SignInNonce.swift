import Crypto
import Foundation

/// Ties what Apple or Google says to one sign-in (accounts §1.5). Make a new one for each.
public struct SignInNonce: Hashable, Sendable {
    /// For `ProviderCredential`.
    public let raw: String

    /// A new one, of 256 random bits.
    public init() { raw = .random() }

    /// For the request to Apple or Google: the SHA-256 of `raw` in lowercase hexadecimal.
    public var digest: String { SHA256.hash(data: Data(raw.utf8)).hexadecimal }
}
