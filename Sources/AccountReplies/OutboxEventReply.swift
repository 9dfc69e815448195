package import Accounts
package import JSON
import Time

/// An event that waits, was delivered or is dead; never its payload.
package struct OutboxEventReply: Encodable {
    package let eventID: String
    package let clientID: String
    package let eventType: String
    package let seq: Int64
    package let state: String
    package let attempts: Int
    package let occurredAt: String
    @Nullable package var nextAttemptAt: String?
    @Nullable package var deliveredAt: String?
    @Nullable package var deadAt: String?
    @Nullable package var failureReason: String?

    package init(_ event: OutboxEvent) {
        eventID = event.eventID
        clientID = event.clientID
        eventType = event.type
        seq = event.seq
        state = event.state.rawValue
        attempts = event.attempts
        occurredAt = event.occurredAt.iso8601
        nextAttemptAt = event.nextAttemptAt?.iso8601
        deliveredAt = event.deliveredAt?.iso8601
        deadAt = event.deadAt?.iso8601
        failureReason = event.failureReason
    }
}
