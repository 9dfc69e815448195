package import MariaDB
import Time

extension Accounts {
    /// Looks up the result of an earlier request with this key.
    package func lookUp(_ key: IdempotencyKey, _ connection: Connection) throws -> IdempotencyLookup {
        let found = try connection.first(
            """
            SELECT fingerprint, answer FROM idempotency_records
            WHERE caller_digest = ? AND key_digest = ? AND expires_at > ?
            """, key.caller, key.key, clock.now
        ) { row in
            (fingerprint: try row.read([UInt8].self), answer: try row.read([UInt8]?.self))
        }
        guard let found, let answer = found.answer else { return .unknown }
        if found.fingerprint != key.fingerprint { return .reused }
        return .answered(try serverKey.open(answer, for: key.row))
    }
}

extension AccountsTransaction {
    /// Reserves the key for this request. It is the first write of the transaction, and a second copy of the request
    /// waits here for the first.
    ///
    /// - Throws: `AlreadyAnswered` if the first copy has committed.
    func claim(_ key: IdempotencyKey) throws {
        // `expires_at` is assigned last: MariaDB runs assignments in order, and the others read its old value.
        let outcome = try connection.execute(
            """
            INSERT INTO idempotency_records (caller_digest, key_digest, fingerprint, expires_at)
            VALUES (?, ?, ?, ?)
            ON DUPLICATE KEY UPDATE
                fingerprint = IF(expires_at <= ?, VALUES(fingerprint), fingerprint),
                answer = IF(expires_at <= ?, NULL, answer),
                expires_at = IF(expires_at <= ?, VALUES(expires_at), expires_at)
            """, key.caller, key.key, key.fingerprint, now + IdempotencyKey.lifetime, now, now, now)
        if outcome.affectedRows == 0 { throw AlreadyAnswered() }
    }

    /// Stores the answer. It is the last write of the transaction.
    func store(_ sealedAnswer: [UInt8], under key: IdempotencyKey) throws {
        try connection.executeLater(
            "UPDATE idempotency_records SET answer = ? WHERE caller_digest = ? AND key_digest = ?", sealedAnswer,
            key.caller, key.key)
    }

    /// Frees the key of a request whose answer is not kept.
    func release(_ key: IdempotencyKey) throws {
        try connection.executeLater(
            "DELETE FROM idempotency_records WHERE caller_digest = ? AND key_digest = ?", key.caller, key.key)
    }
}
