internal import JOSE
package import Threads
package import Time

/// Checks identity tokens; shared by all threads.
package final class IdentityTokenVerifier: Sendable {
    package let providers: [Provider: ProviderSettings]
    private let sources: [Provider: KeySetSource]
    private let clock: Clock

    /// - Parameters:
    ///   - cacheDirectory: the folder that keeps the last good key sets for the next start; only the server may write
    ///     to it.
    ///   - slowPeers: callers that wait for a fetch need its permit, too.
    ///   - initialKeySets: key sets (JSON) to start with, as if just fetched; each must have a usable key.
    package init(
        providers: [Provider: ProviderSettings], cacheDirectory: String?, clock: Clock = .system,
        limits: KeySetLimits = KeySetLimits(), slowPeers: SlowPeerGate? = nil,
        initialKeySets: [Provider: [UInt8]] = [:]
    ) {
        self.providers = providers
        self.clock = clock
        let waiters = KeySetWaiters(limit: limits.waitingCallers, slowPeers)
        var sources: [Provider: KeySetSource] = [:]
        for (provider, settings) in providers {
            sources[provider] = KeySetSource(
                provider: provider, settings: settings, limits: limits, clock: clock,
                cache: cacheDirectory.map {
                    KeySetCache(directory: $0, provider: provider, address: settings.jwksURL)
                },
                initial: initialKeySets[provider].flatMap(KeySet.init(json:)), waiters: waiters)
        }
        self.sources = sources
    }

    deinit { stop() }

    /// - Parameter rawNonce: the client's nonce before hashing.
    /// - Throws: `InvalidIdentityToken`, or `KeySetUnavailable` if the token cannot be checked now.
    package func verify(_ token: String, rawNonce: String, provider: Provider) throws -> IdentityToken {
        let (claims, settings) = try verifySignature(of: token, provider)
        return try IdentityToken(claims, provider: provider, settings: settings, rawNonce: rawNonce, now: clock.now)
    }

    /// - Throws: as `verify`.
    package func verifyNotification(_ token: String) throws -> AppleNotification {
        let (claims, settings) = try verifySignature(of: token, .apple)
        _ = try settings.checkIssuerAndAudience(of: claims)
        return try AppleNotification(claims, now: clock.now)
    }

    private func verifySignature(of token: String, _ provider: Provider) throws -> (Claims, ProviderSettings) {
        guard let settings = providers[provider], let source = sources[provider] else {
            // The provider is not configured, so no audience is accepted. Trying again later would not help.
            throw InvalidIdentityToken(.wrongAudience)
        }
        do {
            let jwt = try JWT(token)
            guard let algorithm = jwt.algorithm else { throw JOSEError.unsupportedAlgorithm }
            guard let keyID = jwt.keyID else { throw JOSEError.unknownKey }
            try jwt.verify(with: try source.keySet(for: keyID, algorithm))
            return (jwt.claims, settings)
        } catch let error as JOSEError {
            throw InvalidIdentityToken(error.reason)
        }
    }

    /// Starts the threads that refresh key sets. Each fetches its first one at once.
    package func start() { sources.values.forEach { $0.start() } }

    /// Ends the threads for good. Returns when they have ended, at the latest after `KeySetLimits.fetchTimeout`.
    package func stop() { sources.values.forEach { $0.stop() } }

    /// Makes the threads check the clock. Otherwise they do so when a fetch is due, and once a minute.
    package func wake() { sources.values.forEach { $0.wake() } }

    package var status: [Provider: KeySetStatus] { sources.mapValues(\.status) }
}

extension JOSEError {
    fileprivate var reason: InvalidIdentityToken.Reason {
        switch self {
        case .malformed: .malformedToken
        case .unsupportedAlgorithm: .unsupportedAlgorithm
        case .unknownKey: .unknownKey
        case .badSignature: .badSignature
        }
    }
}
