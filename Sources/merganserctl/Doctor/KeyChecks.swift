import Accounts
import JOSE
import MariaDB
import Time

/// The keys that sign tokens, and the server key that seals them.
struct KeyChecks {
    private let connection: Connection
    private let serverKey: ServerKey
    private let now = Clock.system.now

    init(_ connection: Connection, _ serverKey: ServerKey) {
        self.connection = connection
        self.serverKey = serverKey
    }

    func findings() throws -> [Finding] {
        [try server(), try signing()] + (try waiting())
    }

    private func server() throws -> Finding {
        if let foreign = try connection.foreignSeal(to: serverKey, isThorough: true) {
            return .fail(
                "server key", "\(foreign.value) was sealed under another server key",
                "set that key as MERGANSER_SERVER_KEY, or as MERGANSER_SERVER_KEY_PREVIOUS")
        }
        let count = try connection.countValues(sealedUnderPredecessorOf: serverKey)
        return count == 0
            ? .ok("server key", "opens the stored values")
            : .warn(
                "server key", "\(count) values are still sealed under MERGANSER_SERVER_KEY_PREVIOUS",
                "merganserctl server-key rotate, once every instance has both keys")
    }

    private func signing() throws -> Finding {
        do {
            let signer = try SigningKeyring(serverKey: serverKey, clock: .system).signer(connection)
            return .ok("signing key", "\(signer.keyID) is active")
        } catch let error as SigningKeyUnavailable {
            return .fail("signing key", "no tokens can be issued", error.description)
        }
    }

    /// Keys that have been published for much longer than clients need to fetch them.
    private func waiting() throws -> [Finding] {
        try connection.signingKeys().filter {
            $0.activatedAt == nil && now - $0.publishedAt > .seconds(30 * 86_400)
        }.map { key in
            .warn(
                "signing key", "\(key.keyID) has been waiting to be activated since \(key.publishedAt.iso8601)",
                "merganserctl signing-key activate \(key.keyID)")
        }
    }
}
