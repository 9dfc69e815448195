import JSON
import MariaDB

/// What takes the place of a webhook key that is in wrong hands.
package struct WebhookKeyReplacement: Sendable {
    package let keyID: String
    /// Nil unless the key is new: the secrets of others were shown once already.
    package let newSecret: String?
}

extension AccountsTransaction {
    /// Ends a webhook key that is in wrong hands: nothing is signed with it any more, and the application is told.
    /// The newest key that remains takes its place, or, when none does, a new one.
    ///
    /// - Throws: `RefusedOperation` unless it is an active key of the application.
    package func retireCompromisedKey(
        _ kid: String, of clientID: String, serverKey: ServerKey
    ) throws -> WebhookKeyReplacement {
        let application = try lockApplication(clientID)
        let active = try connection.all(
            "SELECT kid FROM webhook_keys WHERE application_id = ? AND retired_at IS NULL ORDER BY id DESC",
            application.id
        ) { row in try row.read(String.self) }
        guard active.contains(where: { $0.utf8.elementsEqual(kid.utf8) }) else {
            throw RefusedOperation("\(clientID) has no active webhook key \(kid)")
        }
        try connection.execute(
            "UPDATE webhook_keys SET retired_at = ? WHERE application_id = ? AND kid = ?", now, application.id, kid)
        let replacement: WebhookKeyReplacement
        if let remaining = active.first(where: { !$0.utf8.elementsEqual(kid.utf8) }) {
            replacement = WebhookKeyReplacement(keyID: remaining, newSecret: nil)
        } else {
            let key = try addWebhookKey(to: application, actor: .operator, serverKey: serverKey)
            replacement = WebhookKeyReplacement(keyID: key.keyID, newSecret: key.secret)
        }
        audit(
            .webhookKeyCompromised, user: application.owner, actor: .operator,
            [
                "client_id": .string(clientID), "kid": .string(kid), "replaced_by": .string(replacement.keyID),
            ])
        emit(.webhookKeyCompromised(kid, replacedBy: replacement.keyID, of: application.id))
        return replacement
    }
}
