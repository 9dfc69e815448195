package import Time

/// Checks identity tokens; shared by all threads.
package final class IdentityTokenVerifier: Sendable {
    /// - Parameters:
    ///   - cacheDirectory: where the last good key sets are kept for the next start.
    ///   - initialKeySets: key sets (JSON) to begin with, as if just fetched.
    package init(
        providers: [Provider: ProviderSettings], cacheDirectory: String?, clock: Clock = .system,
        initialKeySets: [Provider: [UInt8]] = [:]
    ) {
    }

    /// - Parameter rawNonce: the client's nonce before hashing.
    /// - Throws: `InvalidIdentityToken`, or `KeySetUnavailable` when the token cannot be checked now.
    package func verify(
        _ token: String, rawNonce: String, provider: Provider
    ) throws -> IdentityToken {
        throw KeySetUnavailable(provider)
    }

    /// Starts the threads that renew key sets.
    package func start() {}

    /// Ends them; returns when they have ended.
    package func stop() {}

    package var status: [Provider: KeySetStatus] { [:] }
}
