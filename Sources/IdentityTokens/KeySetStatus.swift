package import Time

/// The state of one provider's key set, for readiness and metrics.
package struct KeySetStatus: Equatable, Sendable {
    /// Whether tokens can be checked now.
    package var isReady: Bool
    package var keyCount: Int
    /// When the set in use was fetched, in this process or an earlier one.
    package var fetchedAt: Timestamp?
    /// When the set expires. While fetches fail, it is used for another 24 hours.
    package var expiresAt: Timestamp?
    /// Why the last fetch failed; nil after a success.
    package var lastError: String?
    package var fetches: Int
    package var failures: Int
}

/// There is no key set to check a token with, because none could be fetched yet, or because the last one is too old.
package struct KeySetUnavailable: Error, Equatable, Sendable {
    package let provider: Provider

    package init(_ provider: Provider) { self.provider = provider }
}
