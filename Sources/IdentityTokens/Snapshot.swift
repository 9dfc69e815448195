internal import JOSE
internal import Time

/// A key set as it was fetched.
struct Snapshot: Sendable {
    let keySet: KeySet
    let fetchedAt: Timestamp
    /// The end of the set's lifetime, as the provider set it.
    let expiresAt: Timestamp
}
