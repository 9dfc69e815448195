import MariaDB
import OpenSSL
package import Time

/// A secret that proves to the surviving account that its caller also has the other account: `ltgt_…`
/// (accounts §3.1).
package struct MergeToken: Sendable {
    typealias ID = Identifier<MergeToken>

    package let text: String
    package let expiresAt: Timestamp

    static let lifetime = Duration.seconds(300)
}

extension MergeToken {
    /// What the copy of a token is sealed for.
    static func row(_ digest: [UInt8]) -> [UInt8] { Array("merge_token\n".utf8) + digest }
}

/// A merge session token as its row has it.
struct MergeTokenState: Equatable {
    var id: MergeToken.ID
    /// Who would be absorbed.
    var user: User.ID
    var expiresAt: Timestamp
    var isUsed: Bool
}

extension Accounts {
    /// A token with which another account absorbs the caller's.
    ///
    /// - Parameter key: the request's `idempotency_key`. If the token that was issued under it is still good, that token
    ///   is returned again.
    package func issueMergeToken(
        to caller: Caller, under key: String?, in transaction: AccountsTransaction
    ) throws -> MergeToken {
        // Two requests with one key come one after the other.
        let user = try transaction.lockCaller(caller).caller.id
        let keyDigest = key.map { sha256($0.utf8) }
        if let keyDigest, let (digest, sealed, expiresAt) = try transaction.liveMergeToken(of: user, under: keyDigest) {
            let text = try serverKey.open(sealed, for: MergeToken.row(digest))
            return MergeToken(text: String(decoding: text, as: UTF8.self), expiresAt: expiresAt)
        }
        let secret = Secret(.mergeToken)
        let copy = keyDigest.map {
            (key: $0, sealed: serverKey.seal(Array(secret.text.utf8), for: MergeToken.row(secret.digest)))
        }
        _ = try transaction.insertMergeToken(secret, of: user, copy: copy)
        return MergeToken(text: secret.text, expiresAt: transaction.now + MergeToken.lifetime)
    }
}

extension AccountsTransaction {
    /// - Parameters:
    ///   - user: who would be absorbed; locked.
    ///   - copy: of the token, sealed, and the digest of the key that returns it again.
    /// - Throws: `rateLimited`.
    func insertMergeToken(
        _ secret: Secret, of user: User.ID, copy: (key: [UInt8], sealed: [UInt8])? = nil
    ) throws -> MergeToken.ID {
        if let wait = try count(.mergeTokens, for: "\(user.rawValue)") { throw Failure.rateLimited(retryAfter: wait) }
        let expiresAt = now + MergeToken.lifetime
        let outcome = try connection.execute(
            """
            INSERT INTO merge_tokens (digest, user_id, key_digest, sealed_token, copy_expires_at, created_at, expires_at)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, secret.digest, user, copy?.key, copy?.sealed, copy.map { _ in expiresAt }, now, expiresAt)
        return MergeToken.ID(rawValue: Int64(outcome.lastInsertID))
    }
}

extension Connection {
    /// Reads without a lock: whoever decides by the token locks its user and reads it again. Nil if nobody issued it.
    func mergeToken(_ text: String) throws -> MergeTokenState? {
        try first(
            "SELECT id, user_id, expires_at, used_at IS NOT NULL FROM merge_tokens WHERE digest = ?",
            Secret(presented: text).digest
        ) { row in
            MergeTokenState(id: try row.read(), user: try row.read(), expiresAt: try row.read(), isUsed: try row.read())
        }
    }
}

extension AccountsTransaction {
    fileprivate func liveMergeToken(
        of user: User.ID, under keyDigest: [UInt8]
    ) throws -> (digest: [UInt8], sealed: [UInt8], expiresAt: Timestamp)? {
        try connection.first(
            """
            SELECT digest, sealed_token, expires_at FROM merge_tokens
            WHERE user_id = ? AND key_digest = ? AND used_at IS NULL AND expires_at > ? AND sealed_token IS NOT NULL
            """, user, keyDigest, now
        ) { row in (try row.read(), try row.read(), try row.read()) }
    }

    /// - Parameter token: its user is locked, so that nobody else uses it.
    func useUp(_ token: MergeToken.ID) throws {
        try connection.execute(
            "UPDATE merge_tokens SET used_at = ?, sealed_token = NULL, copy_expires_at = NULL WHERE id = ?", now, token)
    }
}
