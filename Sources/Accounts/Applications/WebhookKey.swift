import JSON
import MariaDB
import OpenSSL
import Text
import Time

/// A key that a relying party uses to verify the signatures of events (accounts §3.4). Its secret is shown once.
package struct WebhookKey: Sendable {
    package let keyID: String
    package let secret: String

    /// The identity that the secret is sealed for. It contains the application, because two applications may have keys
    /// with the same name.
    static func row(_ kid: String, of application: Application.ID) -> [UInt8] {
        Array("webhook_key:\(application.rawValue):\(kid)".utf8)
    }

    /// The prefix of all key ids of a quarter: `whk_2026q2_`.
    static func prefix(at now: Timestamp) -> String {
        let civil = CivilTime(now)
        return "whk_\(civil.year)q\((civil.month + 2) / 3)_"
    }

    static func startOfNextQuarter(after now: Timestamp) -> Timestamp {
        let civil = CivilTime(now)
        let month = (civil.month + 2) / 3 * 3 + 1
        return Timestamp(
            CivilTime(year: month > 12 ? civil.year + 1 : civil.year, month: month > 12 ? 1 : month, day: 1))
    }
}

extension AccountsTransaction {
    /// Adds a webhook key for the operator, as a developer does: from now on events are signed with it; the older keys stay
    /// valid.
    ///
    /// - Throws: `RefusedOperation` if there is no such application; `rateLimited` as below.
    package func addWebhookKey(to clientID: String, serverKey: ServerKey) throws -> WebhookKey {
        try addWebhookKey(to: try lockApplication(clientID), actor: .operator, serverKey: serverKey)
    }

    /// - Parameter application: locked or new.
    /// - Throws: `rateLimited` when all 256 ids of the quarter are used.
    func addWebhookKey(
        to application: RegisteredApplication, actor: AuditEntry.Actor, serverKey: ServerKey
    ) throws -> WebhookKey {
        let prefix = WebhookKey.prefix(at: now)
        let taken = Set(
            try connection.all("SELECT kid FROM webhook_keys WHERE application_id = ?", application.id) { row in
                try row.read(String.self)
            })
        let free = (UInt8.min...UInt8.max).map { prefix + [$0].hexadecimal }.filter { !taken.contains($0) }
        guard let keyID = free.randomElement() else {
            throw Failure.rateLimited(retryAfter: WebhookKey.startOfNextQuarter(after: now) - now)
        }
        let key = WebhookKey(keyID: keyID, secret: WebhookKey.secretPrefix + Base64.encode(randomBytes(32)))
        try connection.execute(
            "INSERT INTO webhook_keys (application_id, kid, sealed_secret, created_at) VALUES (?, ?, ?, ?)",
            application.id, key.keyID,
            serverKey.seal(Array(key.secret.utf8), for: WebhookKey.row(key.keyID, of: application.id)), now)
        audit(
            .webhookKeyCreated, user: application.owner, actor: actor,
            ["client_id": .string(application.clientID), "kid": .string(key.keyID)])
        return key
    }
}
