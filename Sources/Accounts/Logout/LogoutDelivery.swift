import JOSE
import JSON
import MariaDB
import OpenSSL
import Text
import Time

/// One attempt to send a logout_token, claimed by a lease (OpenID Connect Back-Channel Logout 1.0 §2.5, accounts §3.7).
struct LogoutDelivery: QueuedDelivery {
    let id: Identifier<LogoutDelivery>
    let notice: LogoutNotice
    /// `backchannel_logout_uri`
    let url: String
    let clientID: String
    /// 1…5
    let attempt: Int
    /// Whether a token that waits for the application has failed before.
    let isFailing: Bool
    let lease: [UInt8]
    let claimedAt: Timestamp
    /// When the session ended.
    let occurredAt: Timestamp
    let signature: Signature

    /// Who signs the token, and when.
    struct Signature: Sendable {
        let issuer: String
        let signer: Signer
        let time: Timestamp
    }

    /// After each failure but the last.
    private static let waits: [Duration] = [.seconds(10), .seconds(60), .seconds(600), .seconds(3600)]
    /// How long a dispatcher may take to send a token and to say what became of it.
    static let lease = AccountsTransaction.deliveryLease
    private static let tokenLifetime = Duration.seconds(120)

    static var kind: DeliveryKind { .logout }
    static var table: StaticString { "logout_tokens" }
    var application: Application.ID { notice.application }
    var target: Application.ID { application }

    // MARK: The request

    /// A token that is made for this attempt.
    func token() throws(OpenSSLError) -> String {
        let issuedAt = signature.time
        var claims: [(String, JSONValue)] = [
            ("iss", .string(signature.issuer)), ("aud", .string(clientID)), ("iat", .integer(issuedAt.seconds)),
            ("exp", .integer((issuedAt + Self.tokenLifetime).seconds)),
            ("jti", .string(Base64URL.encode(randomBytes(16)))),
            ("events", ["http://schemas.openid.net/event/backchannel-logout": [:]]), ("sub", .string(notice.sub)),
        ]
        if let sid = notice.sid { claims.append(("sid", .string(sid.text))) }
        return try signature.signer.sign(JSONValue.object(JSONObject(claims)), type: "logout+jwt")
    }

    func request() -> DeliveryRequest? {
        guard let token = try? token() else { return nil }
        // A token has only characters that a form leaves as they are.
        return DeliveryRequest(
            headers: [("Content-Type", "application/x-www-form-urlencoded"), ("User-Agent", "merganser-logout/1")],
            body: Array("logout_token=\(token)".utf8))
    }

    /// Back-Channel Logout 1.0 §2.8. Some frameworks answer 204 when they have nothing to say.
    static func isTaken(status: Int) -> Bool { status == 200 || status == 204 }

    // MARK: The queue

    static func dueTargets(
        _ connection: Connection, at time: Timestamp, of accounts: Accounts
    ) throws -> [DueApplication] {
        let waiting = try connection.first(
            """
            SELECT COUNT(*) FROM (SELECT 1 FROM logout_tokens FORCE INDEX (logout_tokens_due)
                                  WHERE next_attempt_at <= ? LIMIT ?) AS few
            """, time, dueRowsReadAtOnce, read: { row in try row.read(Int.self) })
        guard let waiting, waiting > 0 else { return [] }
        // STRAIGHT_JOIN: with the applications first, MariaDB would read all that waits for each. A descending order
        // finds a failed token at the end of the index, where "attempts > 0" would read all others before it.
        var sql = ComposedSQL(
            """
            SELECT due.application_id, a.backchannel_logout_uri,
                   (SELECT f.attempts FROM logout_tokens f FORCE INDEX (logout_tokens_application_attempts)
                    WHERE f.application_id = due.application_id ORDER BY f.attempts DESC LIMIT 1) > 0
            FROM (SELECT application_id, MIN(next_attempt_at) AS due_at FROM logout_tokens
            """)
        sql.append(
            waiting < dueRowsReadAtOnce
                ? " FORCE INDEX (logout_tokens_due)" : " FORCE INDEX (logout_tokens_application_due)")
        sql.append(
            """
             WHERE next_attempt_at <= ? GROUP BY application_id) AS due
            STRAIGHT_JOIN applications a ON a.id = due.application_id
            WHERE a.backchannel_logout_uri IS NOT NULL AND a.status = 'active'
            ORDER BY due.due_at, due.application_id
            """, time)
        return try connection.all(sql) { row in
            DueApplication(id: try row.read(), url: try row.read(), isFailing: try row.read(), isProbed: false)
        }
    }

    /// - Throws: also if no key signs. Then nothing is claimed, so that no attempt is spent.
    static func claim(
        for targets: [(target: DueApplication, count: Int)], at time: Timestamp, of accounts: Accounts,
        in transaction: AccountsTransaction
    ) throws -> [LogoutDelivery] {
        let connection = transaction.connection
        let signature = Signature(
            issuer: accounts.settings.issuer, signer: try accounts.signingKeys.signer(connection),
            time: transaction.now)
        let lease = randomBytes(16)
        var deliveries: [LogoutDelivery] = []
        for (application, count) in targets.sorted(by: { $0.target.id < $1.target.id }) {
            // A subquery's rows are not locked.
            deliveries += try connection.all(
                """
                SELECT id, sub, sid, (SELECT client_id FROM applications WHERE id = application_id), attempts, created_at
                FROM logout_tokens FORCE INDEX (logout_tokens_application_due)
                WHERE application_id = ? AND next_attempt_at <= ? ORDER BY next_attempt_at, id LIMIT ?
                FOR UPDATE SKIP LOCKED
                """, application.id, time, count
            ) { row in
                LogoutDelivery(
                    id: try row.read(),
                    notice: LogoutNotice(
                        application: application.id, sub: try row.read(),
                        sid: try row.read([UInt8]?.self).map(SessionID.init(bytes:))),
                    url: application.url, clientID: try row.read(), attempt: try row.read(Int.self) + 1,
                    isFailing: application.isFailing, lease: lease, claimedAt: time, occurredAt: try row.read(),
                    signature: signature)
            }
        }
        try connection.executeMany(
            "UPDATE logout_tokens SET lease = ?, next_attempt_at = ? WHERE id = ?", deliveries
        ) { [lease, time + Self.lease, $0.id] }
        return deliveries
    }

    static func wait(after outcome: AttemptOutcome<LogoutDelivery>) -> Duration? {
        let attempt = outcome.delivery.attempt
        return attempt <= waits.count ? waits[attempt - 1] : nil
    }
}
