package import Time

/// What readiness and metrics say about one provider's key set.
package struct KeySetStatus: Equatable, Sendable {
    /// Whether tokens can be checked now.
    package var isReady: Bool
    package var keyCount: Int
    /// When the set in use was fetched, in this process or an earlier one.
    package var fetchedAt: Timestamp?
    /// Since when it should have been replaced; it serves 24 hours longer while fetching fails.
    package var expiresAt: Timestamp?
    /// Why the last fetch failed; nil after a success.
    package var lastError: String?
    package var fetches: Int
    package var failures: Int
}
