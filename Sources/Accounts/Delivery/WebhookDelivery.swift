import Fetch
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
    /// The database's time.
    let claimedAt: Timestamp

    /// When the event was written, in the clock of its writer.
    var occurredAt: Timestamp { ULID(text: String(eventID.dropFirst("evt_".utf8.count))).timestamp }

    /// Nil if no key signs it.
    ///
    /// - Parameter time: of this attempt.
    func headers(at time: Timestamp) -> [(String, String)]? {
        guard let signature = WebhookSignature(of: payload, eventID: eventID, at: time, keys) else { return nil }
        return [
            ("Content-Type", "application/json"), ("X-Logi-Event-Id", eventID), ("X-Logi-Event-Type", eventType),
            ("X-Logi-Event-Seq", "\(seq)"), ("X-Logi-Delivery-Attempt", "\(attempt)"),
        ] + signature.headers
    }
}

/// Why an attempt failed.
enum DeliveryFailure: Equatable, Sendable {
    /// The receiver answered, but not 2xx.
    case status(Int)
    case timeout
    /// Its host has no address.
    case unresolved
    /// The URL is not one that may be sent to (accounts §3.5); nothing was sent.
    case forbidden
    /// Connection, TLS or protocol failed.
    case connection
    /// The head of the answer is larger than 64 KiB.
    case tooLarge
    /// The application has no key that signs.
    case unsigned

    init(_ error: FetchError) {
        self =
            switch error.reason {
            case .refused, .forbidden: .forbidden
            case .unresolved: .unresolved
            case .timeout: .timeout
            case .tooLarge: .tooLarge
            case .failed: .connection
            }
    }

    /// As it stands in the database.
    var reason: String {
        switch self {
        case .status(let status): "http_\(status)"
        case .timeout: "timeout"
        case .unresolved: "dns_failed"
        case .forbidden: "ssrf_blocked"
        case .connection: "connection_failed"
        case .tooLarge: "answer_too_large"
        case .unsigned: "no_webhook_key"
        }
    }

    /// The receiver wants no events any more (RFC 9110 §15.5.11).
    var isGone: Bool { self == .status(410) }
}

/// What became of an attempt.
struct DeliveryOutcome: Sendable {
    let delivery: WebhookDelivery
    let duration: Duration
    /// Nil without an answer.
    var status: Int?
    /// Nil: delivered.
    var failure: DeliveryFailure?
    /// How long the receiver wants to be left alone.
    var retryAfter: Duration?

    init(_ delivery: WebhookDelivery, failure: DeliveryFailure, duration: Duration = .zero) {
        self.delivery = delivery
        self.failure = failure
        self.duration = duration
    }

    init(_ delivery: WebhookDelivery, _ response: Fetcher.Response, duration: Duration, at now: Timestamp) {
        self.delivery = delivery
        self.duration = duration
        status = response.status
        if !(200...299).contains(response.status) { failure = .status(response.status) }
        if response.status == 429 || response.status == 503 {
            retryAfter = response.header("retry-after").flatMap { DeliverySchedule.retryAfter($0, at: now) }
        }
    }
}
