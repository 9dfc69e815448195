import JSON
import MariaDB

extension SealedColumn {
    /// The most values that one transaction reseals.
    package static let batch = 100
    /// And as many bytes, unless one value has more. A statement has both the old values and the new ones, and must be smaller
    /// than the server's `max_allowed_packet` (16 MiB by default).
    static let batchBytes = 4 << 20
}

extension AccountsTransaction {
    /// Reseals the next values that the previous server key sealed, at most `SealedColumn.batch` and
    /// `SealedColumn.batchBytes`.
    ///
    /// Each value contains the id of its key, so an interrupted run can be started again. The rows are read without a
    /// lock: if a value was changed in the meantime, it is left alone, because the current key sealed it.
    /// - Parameters:
    ///   - position: the end of the previous batch; nil for the first one.
    ///   - isDryRun: whether the values are only opened and counted.
    /// - Returns: the number of values, and the end of the batch; nil if there are no more values.
    /// - Throws: `RefusedOperation` if a value cannot be opened.
    package func reseal(
        _ column: SealedColumn, after position: SealedRow.Position?, _ serverKey: ServerKey, isDryRun: Bool
    ) throws -> (count: Int, position: SealedRow.Position)? {
        guard let previous = serverKey.ids.previous else { return nil }
        let rows = try column.rows(sealedBy: previous, after: position, atMost: SealedColumn.batch, connection)
        guard let last = rows.last else { return nil }
        let resealed = try rows.map { row in
            guard let value = try? serverKey.open(row.sealed, for: row.identity) else {
                throw RefusedOperation(
                    "a value of \(column.table) was sealed under MERGANSER_SERVER_KEY_PREVIOUS but cannot be opened with "
                        + "it, so it was changed or damaged; see row \(String(decoding: row.identity, as: UTF8.self))")
            }
            return (old: row, sealed: serverKey.seal(value, for: row.identity))
        }
        if isDryRun { return (rows.count, last.key) }
        let count = try column.replace(resealed, connection)
        if column.isLasting {
            audit(
                .serverKeyRotated, user: nil, actor: .operator,
                ["resealed": .string("\(column.table)"), "values": .integer(Int64(count))])
        }
        return (count, last.key)
    }
}
