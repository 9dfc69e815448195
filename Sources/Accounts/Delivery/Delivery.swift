import Fetch
import MariaDB
import Time

/// The kinds of messages that dispatchers send.
package enum DeliveryKind: Sendable, CaseIterable {
    /// An event (accounts §3.4).
    case webhook
    /// A logout_token (accounts §3.7).
    case logout
    /// A refresh token that Apple is to revoke (accounts §4.5).
    case appleRevocation

    /// As it stands in messages to the operator.
    package var plural: String {
        switch self {
        case .webhook: "webhooks"
        case .logout: "logout tokens"
        case .appleRevocation: "revocations at Apple"
        }
    }
}

/// A message that a dispatcher has claimed by a lease: what one kind does differently from another. `DeliveryLane` does the
/// rest.
protocol Delivery: Sendable {
    /// Names a receiver. What goes to the same one shares its places.
    associatedtype Target: Hashable, Sendable

    static var kind: DeliveryKind { get }

    var target: Target { get }
    var url: String { get }
    /// Whether the target's last attempt failed.
    var isFailing: Bool { get }
    /// The database's time.
    var claimedAt: Timestamp { get }
    /// When that happened which the message tells of, or when the message was replayed, in the clock of its writer.
    var occurredAt: Timestamp { get }

    /// What is posted; nil if no key signs it, or none opens it.
    func request() -> DeliveryRequest?

    /// Whether an answer means that the receiver has taken the message.
    static func isTaken(status: Int) -> Bool

    /// Targets that have due messages and may be sent to, those that have waited longest first.
    ///
    /// - Parameter time: the database's, here and below.
    static func dueTargets(
        _ connection: Connection, at time: Timestamp, of accounts: Accounts
    ) throws -> [DueTarget<Target>]

    /// Claims due messages, each target's oldest first, so that nobody else sends them during the lease.
    ///
    /// - Parameter targets: with how many messages each may have.
    static func claim(
        for targets: [(target: DueTarget<Target>, count: Int)], at time: Timestamp, of accounts: Accounts,
        in transaction: AccountsTransaction
    ) throws -> [Self]

    /// Records what became of attempts, and decides what comes next.
    static func record(
        _ outcomes: [AttemptOutcome<Self>], at time: Timestamp, in transaction: AccountsTransaction
    ) throws -> RecordedOutcomes

    /// Gives messages back that were not sent, or of which nobody knows. They are due at once.
    static func release(_ messages: [Self], at time: Timestamp, in transaction: AccountsTransaction) throws
}

/// The content of a POST.
struct DeliveryRequest {
    let headers: [(String, String)]
    let body: [UInt8]
}

/// What became of an attempt.
struct AttemptOutcome<Message: Delivery>: Sendable {
    let delivery: Message
    let duration: Duration
    /// Nil without an answer.
    var status: Int?
    /// Nil: taken.
    var failure: DeliveryFailure?
    /// How long the receiver wants to be left alone.
    var retryAfter: Duration?

    init(_ delivery: Message, failure: DeliveryFailure, duration: Duration = .zero) {
        self.delivery = delivery
        self.failure = failure
        self.duration = duration
    }

    init(_ delivery: Message, _ response: Fetcher.Response, duration: Duration) {
        self.delivery = delivery
        self.duration = duration
        status = response.status
        if !Message.isTaken(status: response.status) { failure = .status(response.status) }
        if response.status == 429 || response.status == 503 {
            let now = delivery.claimedAt + duration
            retryAfter = response.header("retry-after").flatMap { DeliverySchedule.retryAfter($0, at: now) }
        }
    }
}

/// Why an attempt failed.
enum DeliveryFailure: Equatable, Sendable {
    /// The receiver answered that it has not taken the message.
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
    /// No key signs the message.
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

    /// The receiver wants no messages any more (RFC 9110 §15.5.11).
    var isGone: Bool { self == .status(410) }
}
