package import MariaDB
import Time

extension Connection {
    /// All keys, also removed ones, oldest first.
    package func signingKeys() throws -> [SigningKey] {
        try all(
            """
            SELECT kid, public_jwk IS NOT NULL, published_at, activated_at, retired_at FROM signing_keys ORDER BY id
            """
        ) { row in try SigningKey(from: &row) }
    }

    /// The public keys that were not removed, as JSON by their ids.
    package func publicKeys() throws -> [String: String] {
        let keys = try all("SELECT kid, public_jwk FROM signing_keys WHERE public_jwk IS NOT NULL") { row in
            (try row.read(String.self), try row.read(String.self))
        }
        return Dictionary(uniqueKeysWithValues: keys)
    }

    /// The same keys, locked.
    func lockSigningKeys() throws -> [SigningKey] {
        try all(
            """
            SELECT kid, public_jwk IS NOT NULL, published_at, activated_at, retired_at FROM signing_keys ORDER BY id
            FOR UPDATE
            """
        ) { row in try SigningKey(from: &row) }
    }

    /// The keys that are published at that time, oldest first.
    func publishedSigningKeys(at now: Timestamp) throws -> [PublishedSigningKey] {
        try all(
            """
            SELECT kid, public_jwk, sealed_private_key, activated_at FROM signing_keys
            WHERE public_jwk IS NOT NULL AND (retired_at IS NULL OR retired_at > ?) ORDER BY id
            """, now - SigningKey.publicAfterlife
        ) { row in
            PublishedSigningKey(
                keyID: try row.read(), publicJWK: try row.read(), sealedPrivateKey: try row.read(),
                activatedAt: try row.read())
        }
    }

    func insertSigningKey(_ keyID: String, publicJWK: String, sealedPrivateKey: [UInt8], at now: Timestamp) throws {
        try execute(
            "INSERT INTO signing_keys (kid, public_jwk, sealed_private_key, published_at) VALUES (?, ?, ?, ?)",
            keyID, publicJWK, sealedPrivateKey, now)
    }

    func setActivation(of keyID: String, to time: Timestamp) throws {
        try execute("UPDATE signing_keys SET activated_at = ? WHERE kid = ?", time, keyID)
    }

    func setRetirement(of keyID: String, to time: Timestamp) throws {
        try execute("UPDATE signing_keys SET retired_at = ? WHERE kid = ?", time, keyID)
    }
}

extension SigningKey {
    fileprivate init(from row: inout Row) throws {
        self.init(
            keyID: try row.read(), isPublished: try row.read(), publishedAt: try row.read(),
            activatedAt: try row.read(), retiredAt: try row.read())
    }
}
