package import MariaDB

/// A stored value that neither of the configured server keys sealed.
package struct ForeignSeal: Sendable, CustomStringConvertible {
    /// Such as `signing key 0123456789abcdef`.
    package let value: String

    package var description: String {
        "\(value) was sealed under another server key; set that key as MERGANSER_SERVER_KEY, or as "
            + "MERGANSER_SERVER_KEY_PREVIOUS if you rotate to a new one"
    }
}

extension Connection {
    /// A lasting value that neither key sealed; nil if there is none.
    ///
    /// - Parameter isThorough: whether to look through what each user may have, too. That is too much for each start; the
    ///   others say enough there, because a rotation seals everything again, and a server works without Apple's tokens.
    package func foreignSeal(to serverKey: ServerKey, isThorough: Bool = false) throws -> ForeignSeal? {
        let (current, previous) = serverKey.ids
        let keyIDs = [current, previous ?? current]
        for column in SealedColumn.all {
            if let name = try column.firstName(sealedByNoneOf: keyIDs, isThorough: isThorough, self) {
                return ForeignSeal(value: name)
            }
        }
        return nil
    }

    /// The number of lasting values that the previous key sealed.
    package func countValues(sealedUnderPredecessorOf serverKey: ServerKey) throws -> Int {
        guard let previous = serverKey.ids.previous else { return 0 }
        return try SealedColumn.all.filter(\.isLasting).reduce(0) { try $0 + $1.count(sealedBy: previous, self) }
    }
}
