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
    package func foreignSeal(to serverKey: ServerKey) throws -> ForeignSeal? {
        let (current, previous) = serverKey.ids
        return try first(
            """
            SELECT CONCAT('signing key ', kid) FROM signing_keys
            WHERE SUBSTR(sealed_private_key, 2, 4) NOT IN (?, ?)
            UNION ALL
            SELECT CONCAT('webhook key ', kid) FROM webhook_keys WHERE SUBSTR(sealed_secret, 2, 4) NOT IN (?, ?)
            LIMIT 1
            """, current, previous ?? current, current, previous ?? current
        ) { row in ForeignSeal(value: try row.read()) }
    }

    /// The number of lasting values that the previous key sealed.
    package func countValues(sealedUnderPredecessorOf serverKey: ServerKey) throws -> Int {
        guard let previous = serverKey.ids.previous else { return 0 }
        return try first(
            """
            SELECT (SELECT COUNT(*) FROM signing_keys WHERE SUBSTR(sealed_private_key, 2, 4) = ?)
                 + (SELECT COUNT(*) FROM webhook_keys WHERE SUBSTR(sealed_secret, 2, 4) = ?)
            """, previous, previous
        ) { row in try row.read() } ?? 0
    }
}
