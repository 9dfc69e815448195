import Accounts
import Database
import HTTP
import JSON
import Time

private struct AttemptReply: Encodable {
    let eventID: String
    let eventType: String
    let attempt: Int
    let at: String
    @Nullable var status: Int?
    let durationMs: Int
    @Nullable var failureReason: String?

    init(_ attempt: DeliveryAttempt) {
        eventID = attempt.eventID
        eventType = attempt.eventType
        self.attempt = attempt.attempt
        at = attempt.at.iso8601
        status = attempt.status
        durationMs = Int(attempt.duration / .milliseconds(1))
        failureReason = attempt.failureReason
    }
}

/// `GET /api/v1/applications/{client_id}/webhook_deliveries?limit` (accounts §3.4): attempts, newest first.
@Sendable func listWebhookDeliveries(_ call: Call, _ developer: Developer) throws -> Response {
    let limit = try call.queryParameters.pageLimit() ?? EventPoll.defaultLimit
    let attempts = try call.database.read { connection in
        try call.accounts.deliveryAttempts(
            of: call.arguments[0], by: developer.caller, limit: limit, connection)
    }
    return .json(.ok, ["deliveries": attempts.map(AttemptReply.init)])
}
