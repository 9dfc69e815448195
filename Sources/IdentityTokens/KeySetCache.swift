internal import FoundationEssentials
internal import JOSE
internal import JSON
internal import Time

/// Keeps a provider's last good key set for the next start, when the provider or the network may be down.
///
/// Whoever can write to the file can sign in as anybody, so only the server may write to its directory.
struct KeySetCache: Sendable {
    private let file: URL
    /// The address of the key set. A set from another address is not this provider's.
    private let address: String

    private struct Contents: Codable {
        var address: String
        var fetchedAt: Int64
        var expiresAt: Int64
        var keySet: JSONValue
    }

    init(directory: String, provider: Provider, address: String) {
        file = URL(filePath: directory).appending(path: "\(provider.rawValue)-keys.json")
        self.address = address
    }

    /// - Returns: nil if there is no file, or if it has no usable set of this address with a possible lifetime.
    func load(_ now: Timestamp, _ limits: KeySetLimits) -> Snapshot? {
        guard let data = try? Data(contentsOf: file), let contents = try? Contents(json: Array(data)),
            contents.address == address, let keySet = KeySet(json: contents.keySet.json()), !keySet.keys.isEmpty,
            contents.fetchedAt >= 0, contents.fetchedAt <= now.milliseconds
        else { return nil }
        let fetchedAt = Timestamp(milliseconds: contents.fetchedAt)
        let expiresAt = Timestamp(milliseconds: contents.expiresAt)
        guard (fetchedAt...fetchedAt + limits.lifetime.upperBound).contains(expiresAt) else { return nil }
        return Snapshot(keySet: keySet, fetchedAt: fetchedAt, expiresAt: expiresAt)
    }

    /// Replaces the file by renaming, so that a reader finds either the old set or the new one. After a failure, only
    /// the next cold start lacks the set.
    func store(_ snapshot: Snapshot) {
        guard let keySet = try? JSONValue(json: snapshot.keySet.json()) else { return }
        let contents = Contents(
            address: address, fetchedAt: snapshot.fetchedAt.milliseconds, expiresAt: snapshot.expiresAt.milliseconds,
            keySet: keySet)
        try? Data(contents.json()).write(to: file, options: .atomic)
    }
}

/// A key set as it was fetched.
struct Snapshot: Sendable {
    let keySet: KeySet
    let fetchedAt: Timestamp
    /// The end of the set's lifetime, as the provider set it.
    let expiresAt: Timestamp
}
