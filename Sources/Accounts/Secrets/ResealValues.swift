import JSON
package import MariaDB

/// Stored values that the server key seals, by table.
package enum SealedValues: String, Sendable, CaseIterable {
    case signingKeys = "signing_keys"
    case webhookKeys = "webhook_keys"
    case idempotencyRecords = "idempotency_records"
    case refreshFamilies = "refresh_families"
    case providerSignIns = "provider_sign_ins"
    case mergeTokens = "merge_tokens"

    /// The most values that one transaction reseals.
    package static let batch = 100

    /// Whether the values stay until they are removed. The others expire within a day.
    fileprivate var isLasting: Bool { self == .signingKeys || self == .webhookKeys }

    /// The end of a batch: the primary key of its last row.
    package typealias Position = [any Bindable]
}

extension AccountsTransaction {
    /// Reseals the next values that the previous server key sealed, at most `SealedValues.batch`.
    ///
    /// Each value contains the id of its key, so an interrupted run can be started again. The rows are read without a
    /// lock: if a value was changed in the meantime, it is left alone, because the current key sealed it.
    /// - Parameters:
    ///   - position: the end of the previous batch; nil for the first one.
    ///   - isDryRun: whether the values are only opened and counted.
    /// - Returns: the number of values, and the end of the batch; nil if there are no more values.
    /// - Throws: `RefusedOperation` if a value cannot be opened.
    package func reseal(
        _ values: SealedValues, after position: SealedValues.Position?, _ serverKey: ServerKey, isDryRun: Bool
    ) throws -> (count: Int, position: SealedValues.Position)? {
        guard let previous = serverKey.ids.previous else { return nil }
        let rows = try connection.rows(of: values, sealedUnder: previous, after: position)
        guard let last = rows.last else { return nil }
        let resealed = try rows.map { row in
            guard let value = try? serverKey.open(row.sealed, for: row.identity) else {
                throw RefusedOperation(
                    "a value of \(values.rawValue) was sealed under MERGANSER_SERVER_KEY_PREVIOUS but cannot be opened with "
                        + "it, so it was changed or damaged; see row \(String(decoding: row.identity, as: UTF8.self))")
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
