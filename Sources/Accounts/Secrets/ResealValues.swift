import JSON
package import MariaDB

/// What is stored sealed under the server key, by table.
package enum SealedValues: String, Sendable, CaseIterable {
    case signingKeys = "signing_keys"
    case webhookKeys = "webhook_keys"
    case idempotencyRecords = "idempotency_records"
    case refreshFamilies = "refresh_families"
    case providerSignIns = "provider_sign_ins"

    /// The most values that one transaction seals again.
    package static let batch = 100

    /// Whether they stay until somebody removes them; the others are gone within minutes.
    fileprivate var isLasting: Bool { self == .signingKeys || self == .webhookKeys }

    /// Where a batch ended: the primary key of its last row.
    package typealias Position = [any Bindable]
}

extension AccountsTransaction {
    /// Seals the next values again that the previous server key sealed, at most `SealedValues.batch`.
    ///
    /// The values themselves say under which key they are, so a run that was interrupted is gone on with by the next. Rows
    /// are not locked to be read: a value that changed meanwhile is left as it is, and was sealed by whoever changed it.
    /// - Parameters:
    ///   - position: where the batch before ended; nil to begin.
    ///   - isDryRun: whether they are only opened and counted.
    /// - Returns: how many, and where the batch ended; nil when there were no more.
    /// - Throws: `RefusedOperation` for a value that does not open.
    package func reseal(
        _ values: SealedValues, after position: SealedValues.Position?, _ serverKey: ServerKey, isDryRun: Bool
    ) throws -> (count: Int, position: SealedValues.Position)? {
        guard let previous = serverKey.ids.previous else { return nil }
        let rows = try connection.rows(of: values, sealedUnder: previous, after: position)
        guard let last = rows.last else { return nil }
        let resealed = try rows.map { row in
            guard let value = try? serverKey.open(row.sealed, for: row.identity) else {
                throw RefusedOperation(
                    "a value of \(values.rawValue) does not open under MERGANSER_SERVER_KEY_PREVIOUS although it was sealed "
                        + "under it, so it was changed: look at row \(String(decoding: row.identity, as: UTF8.self))")
            }
            return [serverKey.seal(value, for: row.identity)] + row.key + [row.sealed]
        }
        if isDryRun { return (rows.count, last.key) }
        let count = try connection.replace(values, resealed)
        if values.isLasting {
            audit(
                .serverKeyRotated, user: nil, actor: .operator,
                ["resealed": .string(values.rawValue), "values": .integer(Int64(count))])
        }
        return (count, last.key)
    }
}
