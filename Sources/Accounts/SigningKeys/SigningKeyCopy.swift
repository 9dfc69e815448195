import JOSE
import JSON
import Time

/// The published keys at one moment, parsed. Immutable and shared by all threads.
struct SigningKeyCopy: Sendable {
    private struct Entry: Sendable {
        let keyID: String
        let from: Timestamp
        let signer: Result<Signer, SigningKeyUnavailable>
    }

    let readAt: Timestamp
    let keySet: KeySet
    /// The key set as JSON.
    let document: [UInt8]
    /// Access tokens that the key set has verified.
    let verifiedTokens: VerifiedTokenCache
    private let rows: [PublishedSigningKey]
    /// Newest first, down to the one that signed when this was read.
    private let entries: [Entry]

    /// - Parameter old: its parsed keys are used again.
    init(_ rows: [PublishedSigningKey], at now: Timestamp, after old: SigningKeyCopy?, _ serverKey: ServerKey) {
        readAt = now
        self.rows = rows
        if let old, old.rows == rows {
            keySet = old.keySet
            document = old.document
            verifiedTokens = old.verifiedTokens
        } else {
            keySet = KeySet(rows.compactMap(\.jwk))
            document = keySet.json()
            verifiedTokens = VerifiedTokenCache(keySet)
        }
        let activated = rows.compactMap { row in row.activatedAt.map { (row: row, from: $0) } }
        // If two keys were activated at the same time, the later row is the newer key.
        let newestFirst = activated.reversed().sorted { $0.from > $1.from }
        let needed = newestFirst.prefix { $0.from > now } + newestFirst.drop { $0.from > now }.prefix(1)
        entries = needed.map { row, from in
            Entry(keyID: row.keyID, from: from, signer: old?.opened(row.keyID) ?? row.open(with: serverKey))
        }
    }

    var isPublishing: Bool { !keySet.keys.isEmpty }

    /// The newest key that signs at that time; nil if there is none.
    func signer(at now: Timestamp) -> Result<Signer, SigningKeyUnavailable>? {
        entries.first { $0.from <= now }?.signer
    }

    /// Ids are never reused, so an opened key stays valid.
    private func opened(_ keyID: String) -> Result<Signer, SigningKeyUnavailable>? {
        let entry = entries.first { $0.keyID == keyID }
        guard case .success? = entry?.signer else { return nil }
        return entry?.signer
    }
}
