import Accounts
import HTTP

/// `POST /api/v1/applications/{client_id}/webhook_test` (accounts §3.4). The event is sent after the answer.
@Sendable func testWebhook(_ call: Call, _ developer: Developer) throws -> Response {
    try call.commit { transaction in
        try call.accounts.testWebhook(call.arguments[0], by: developer.caller, in: transaction)
        return .json(.accepted, ["ok": true])
    }
}
