import MariaDB

/// One sealed value.
struct SealedRow {
    /// The primary key.
    var key: SealedValues.Position
    /// The identity that the value is sealed for.
    var identity: [UInt8]
    var sealed: [UInt8]
}

extension Connection {
    /// The next values that the given key sealed, in the order of their primary key.
    func rows(
        of values: SealedValues, sealedUnder keyID: [UInt8], after position: SealedValues.Position?
    ) throws -> [SealedRow] {
        let id = position?.first ?? 0
        switch values {
        case .signingKeys:
            return try all(
                """
                SELECT id, kid, sealed_private_key FROM signing_keys
                WHERE id > ? AND SUBSTR(sealed_private_key, 2, 4) = ? ORDER BY id LIMIT 100
                """, id, keyID
            ) { row in
                SealedRow(
                    key: [try row.read(Int64.self)], identity: SigningKey.row(try row.read()), sealed: try row.read())
            }
        case .webhookKeys:
            return try all(
                """
                SELECT id, application_id, kid, sealed_secret FROM webhook_keys
                WHERE id > ? AND SUBSTR(sealed_secret, 2, 4) = ? ORDER BY id LIMIT 100
                """, id, keyID
            ) { row in
                let (id, application) = (try row.read(Int64.self), try row.read(Application.ID.self))
                return SealedRow(
                    key: [id], identity: WebhookKey.row(try row.read(), of: application), sealed: try row.read())
            }
        case .idempotencyRecords:
            let last = position ?? [[UInt8](), [UInt8]()]
            return try all(
                """
                SELECT caller_digest, key_digest, answer FROM idempotency_records
                WHERE (caller_digest > ? OR caller_digest = ? AND key_digest > ?) AND SUBSTR(answer, 2, 4) = ?
                ORDER BY caller_digest, key_digest LIMIT 100
                """, last[0], last[0], last[1], keyID
            ) { row in
                let (caller, key) = (try row.read([UInt8].self), try row.read([UInt8].self))
                return SealedRow(
                    key: [caller, key], identity: IdempotencyKey.row(caller: caller, key: key), sealed: try row.read())
            }
        case .refreshFamilies:
            return try all(
                """
                SELECT id, sealed_answer FROM refresh_families
                WHERE id > ? AND SUBSTR(sealed_answer, 2, 4) = ? ORDER BY id LIMIT 100
                """, id, keyID
            ) { row in
                let id = try row.read(TokenFamily.ID.self)
                return SealedRow(key: [id], identity: TokenFamily.row(id), sealed: try row.read())
            }
        case .providerSignIns:
            return try all(
                """
                SELECT id, sealed FROM provider_sign_ins
                WHERE id > ? AND SUBSTR(sealed, 2, 4) = ? ORDER BY id LIMIT 100
                """, id, keyID
            ) { row in
                let id = try row.read(ProviderTrip.ID.self)
                return SealedRow(key: [id], identity: ProviderTrip.row(id), sealed: try row.read())
            }
        case .mergeTokens:
            return try all(
                """
                SELECT id, digest, sealed_token FROM merge_tokens
                WHERE id > ? AND SUBSTR(sealed_token, 2, 4) = ? ORDER BY id LIMIT 100
                """, id, keyID
            ) { row in
                SealedRow(
                    key: [try row.read(Int64.self)], identity: MergeToken.row(try row.read()), sealed: try row.read())
            }
        }
    }

    /// - Parameter rows: for each row the new value, the primary key, and the old value.
    /// - Returns: how many rows still had their old value.
    func replace(_ values: SealedValues, _ rows: [[(any Bindable)?]]) throws -> Int {
        let outcome =
            switch values {
            case .signingKeys:
                try executeMany(
                    "UPDATE signing_keys SET sealed_private_key = ? WHERE id = ? AND sealed_private_key = ?", rows)
            case .webhookKeys:
                try executeMany("UPDATE webhook_keys SET sealed_secret = ? WHERE id = ? AND sealed_secret = ?", rows)
            case .idempotencyRecords:
                try executeMany(
                    """
                    UPDATE idempotency_records SET answer = ?
                    WHERE caller_digest = ? AND key_digest = ? AND answer = ?
                    """, rows)
            case .refreshFamilies:
                try executeMany(
                    "UPDATE refresh_families SET sealed_answer = ? WHERE id = ? AND sealed_answer = ?", rows)
            case .providerSignIns:
                try executeMany("UPDATE provider_sign_ins SET sealed = ? WHERE id = ? AND sealed = ?", rows)
            case .mergeTokens:
                try executeMany("UPDATE merge_tokens SET sealed_token = ? WHERE id = ? AND sealed_token = ?", rows)
            }
        return outcome.affectedRows
    }
}
