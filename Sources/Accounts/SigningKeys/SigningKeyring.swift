package import JOSE
package import MariaDB
import OpenSSL
import Synchronization
import Time

/// The keys that sign tokens, shared by all threads and renewed from the database while they are used.
package final class SigningKeyring: Sendable {
    /// No key may sign: the operator has to make and activate one.
    package struct NoActiveKey: Error, CustomStringConvertible {
        package var description: String {
            "there is no active signing key; run: merganserctl signing-key generate && merganserctl signing-key activate"
        }
    }

    private struct Snapshot {
        var readAt: Timestamp
        var signer: Signer?
        var keySet: KeySet
    }

    private let serverKey: ServerKey
    private let clock: Clock
    private let snapshot = Mutex<Snapshot?>(nil)

    init(serverKey: ServerKey, clock: Clock) {
        self.serverKey = serverKey
        self.clock = clock
    }

    /// The newest activated key.
    ///
    /// - Throws: `NoActiveKey`.
    package func signer(_ connection: Connection) throws -> Signer {
        guard let signer = try current(connection).signer else { throw NoActiveKey() }
        return signer
    }

    /// Every published key.
    package func keySet(_ connection: Connection) throws -> KeySet { try current(connection).keySet }

    private func current(_ connection: Connection) throws -> Snapshot {
        let now = clock.now
        if let snapshot = snapshot.withLock({ $0 }), now < snapshot.readAt + .seconds(10) { return snapshot }
        let keys = try connection.all(
            """
            SELECT kid, sealed_private_key, activated_at FROM signing_keys
            WHERE sealed_private_key IS NOT NULL ORDER BY activated_at DESC, id DESC
            """
        ) { row in
            let (kid, sealed) = (try row.read(String.self), try row.read([UInt8].self))
            let pem = try self.serverKey.open(sealed, for: Array("signing_key:\(kid)".utf8))
            return (
                signer: Signer(keyID: kid, key: try PrivateKey(pem: String(decoding: pem, as: UTF8.self))),
                activatedAt: try row.read(Timestamp?.self)
            )
        }
        let fresh = Snapshot(
            readAt: now, signer: keys.first { $0.activatedAt.map { $0 <= now } ?? false }?.signer,
            keySet: KeySet(keys.map(\.signer.jwk)))
        snapshot.withLock { $0 = fresh }
        return fresh
    }
}
