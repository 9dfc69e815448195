import JOSE
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Time

@testable import Accounts

extension TestApp {
    /// Made once: generating one takes longer than most tests.
    private static let key = Result { try PrivateKey.generateRSA() }

    /// A key that signs, as an operator's `signing-key generate` and `activate` leave it.
    func addSigningKey() throws {
        let kid = "0123456789abcdef"
        let key = try Self.key.get()
        try database.connect().execute(
            """
            INSERT INTO signing_keys (kid, public_jwk, sealed_private_key, published_at, activated_at)
            VALUES (?, ?, ?, ?, ?)
            """, kid, String(decoding: JWK(keyID: kid, key: key.publicKey).json(), as: UTF8.self),
            service.accounts.serverKey.seal(Array(key.pem.utf8), for: Array("signing_key:\(kid)".utf8)), time.now,
            time.now)
    }
}
