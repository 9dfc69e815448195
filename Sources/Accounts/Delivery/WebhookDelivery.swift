import MariaDB
import Time

/// One attempt to send an event, claimed by a lease (accounts §3.4).
package struct WebhookDelivery: Sendable {
    /// The outbox row.
    let row: Int64
    let application: Application.ID
    let url: String
    let eventID: String
    let eventType: String
    let seq: Int64
    /// The bytes that were made with the event; they are sent as they are.
    let payload: [UInt8]
    /// 1…14
    let attempt: Int
    /// Whether the application's last attempt failed.
    let isFailing: Bool
    /// Whether it asks if the receiver works again, and so spends no attempt.
    let isProbe: Bool
    /// The application's active keys, newest first.
    let keys: [WebhookKey]
    /// What the outbox row must have for a failure to count.
    let lease: [UInt8]
    /// When the event was last replayed; nil: never. No two replays of an event have the same time.
    let replayedAt: Timestamp?
    /// The database's time.
    let claimedAt: Timestamp

    /// When the event was written or last replayed, in the clock of whoever did so.
    var occurredAt: Timestamp { replayedAt ?? Event.time(ofID: eventID) }
}

typealias DeliveryOutcome = AttemptOutcome<WebhookDelivery>

extension WebhookDelivery: Delivery {
    static var kind: DeliveryKind { .webhook }
    var target: Application.ID { application }

    func request() -> DeliveryRequest? {
        guard let signature = WebhookSignature(of: payload, eventID: eventID, at: claimedAt, keys) else { return nil }
        let headers = [
            ("Content-Type", "application/json"), ("User-Agent", "merganser-webhook/1"), ("X-Logi-Event-Id", eventID),
            ("X-Logi-Event-Type", eventType), ("X-Logi-Event-Seq", "\(seq)"), ("X-Logi-Delivery-Attempt", "\(attempt)"),
        ]
        return DeliveryRequest(headers: headers + signature.headers, body: payload)
    }

    static func isTaken(status: Int) -> Bool { (200...299).contains(status) }

    static func dueTargets(
        _ connection: Connection, at time: Timestamp, of accounts: Accounts
    ) throws -> [DueApplication] {
        try connection.dueApplications(at: time)
    }

    static func claim(
        for targets: [(target: DueApplication, count: Int)], at time: Timestamp, of accounts: Accounts,
        in transaction: AccountsTransaction
    ) throws -> [WebhookDelivery] {
        try transaction.claimDeliveries(for: targets, at: time, serverKey: accounts.serverKey)
    }

    static func record(
        _ outcomes: [DeliveryOutcome], at time: Timestamp, in transaction: AccountsTransaction
    ) throws -> RecordedOutcomes {
        try transaction.record(outcomes, at: time)
    }

    static func release(_ deliveries: [WebhookDelivery], at time: Timestamp, in transaction: AccountsTransaction) throws
    {
        try transaction.release(deliveries, at: time)
    }
}
