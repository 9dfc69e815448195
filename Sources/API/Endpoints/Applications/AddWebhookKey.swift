import Accounts
import HTTP

/// `POST /api/v1/applications/{client_id}/webhook_keys` (accounts §2.1): adds a key, which signs events from now on.
@Sendable func addWebhookKey(_ call: Call, _ developer: Developer) throws -> Response {
    try call.commit { transaction in
        let key = try call.accounts.addWebhookKey(to: call.arguments[0], by: developer.caller, in: transaction)
        return .json(.created, ["webhook_key": WebhookKeyReply(key)])
    }
}
