import AccountReplies
import Accounts
import HTTP

/// `POST /api/v1/applications/{client_id}/webhook_enable` (accounts §3.4).
@Sendable func enableWebhook(_ call: Call, _ developer: Developer) throws -> Response {
    try call.commit { transaction in
        .json(
            .ok,
            ApplicationReply(
                try call.accounts.enableWebhook(call.arguments[0], by: developer.caller, in: transaction)))
    }
}
