import IdentityTokens
import MariaDB
import OpenSSL
import Time

/// One attempt to have Apple revoke a refresh token, claimed by a lease (accounts §4.5).
struct AppleRevocation: QueuedDelivery {
    typealias ID = Identifier<AppleRevocation>

    enum Target: Hashable, Sendable { case apple }

    let id: ID
    /// Nil: the server key does not open it.
    let grant: AppleGrant?
    let client: AppleClient
    /// 1…14
    let attempt: Int
    let isFailing: Bool
    let lease: [UInt8]
    let claimedAt: Timestamp
    let occurredAt: Timestamp
    /// When the client secret is made.
    let time: Timestamp

    static var kind: DeliveryKind { .appleRevocation }
    static var table: StaticString { "apple_revocations" }
    var target: Target { .apple }
    var url: String { client.settings.revocationURL }

    func request() -> DeliveryRequest? {
        guard let grant, let body = try? client.revocation(of: grant, at: time) else { return nil }
        return DeliveryRequest(headers: AppleClient.headers, body: body)
    }

    /// Apple answers the same for tokens that are revoked already.
    static func isTaken(status: Int) -> Bool { status == 200 }

    // MARK: The queue

    static func dueTargets(
        _ connection: Connection, at time: Timestamp, of accounts: Accounts
    ) throws -> [DueTarget<Target>] {
        // Without a client nothing can be sent, and the rows wait.
        guard let client = accounts.apple else { return [] }
        let due = try connection.first(
            """
            SELECT EXISTS (SELECT 1 FROM apple_revocations WHERE attempts > 0) FROM apple_revocations
            WHERE next_attempt_at <= ? ORDER BY next_attempt_at LIMIT 1
            """, time
        ) { row in
            DueTarget(
                id: Target.apple, url: client.settings.revocationURL, isFailing: try row.read(), isProbed: false)
        }
        return due.map { [$0] } ?? []
    }

    static func claim(
        for targets: [(target: DueTarget<Target>, count: Int)], at time: Timestamp, of accounts: Accounts,
        in transaction: AccountsTransaction
    ) throws -> [AppleRevocation] {
        guard let client = accounts.apple else { return [] }
        let lease = randomBytes(16)
        var revocations: [AppleRevocation] = []
        for (target, count) in targets {
            revocations += try transaction.connection.all(
                """
                SELECT id, attempts, created_at, client_id, token_handle, token FROM apple_revocations
                WHERE next_attempt_at <= ? ORDER BY next_attempt_at, id LIMIT ? FOR UPDATE SKIP LOCKED
                """, time, count
            ) { row in
                let (id, attempts) = (try row.read(ID.self), try row.read(Int.self))
                let queuedAt = try row.read(Timestamp.self)
                return AppleRevocation(
                    id: id, grant: accounts.open(try SealedAppleGrant(from: &row)), client: client,
                    attempt: attempts + 1, isFailing: target.isFailing, lease: lease, claimedAt: time,
                    occurredAt: queuedAt, time: transaction.now)
            }
        }
        try transaction.connection.executeMany(
            "UPDATE apple_revocations SET lease = ?, next_attempt_at = ? WHERE id = ?", revocations
        ) { [lease, time + AccountsTransaction.deliveryLease, $0.id] }
        return revocations
    }

    /// The waits are those of events (accounts §3.4).
    static func wait(after outcome: AttemptOutcome<AppleRevocation>) -> Duration? {
        DeliverySchedule.wait(afterFailures: outcome.delivery.attempt, retryAfter: outcome.retryAfter)
    }
}

extension Accounts {
    fileprivate func open(_ stored: SealedAppleGrant) -> AppleGrant? {
        guard let token = try? serverKey.open(stored.sealed, for: SealedAppleGrant.row(stored.handle)) else {
            return nil
        }
        return AppleGrant(refreshToken: String(decoding: token, as: UTF8.self), clientID: stored.clientID)
    }
}
