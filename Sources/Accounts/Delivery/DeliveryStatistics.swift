import Synchronization
import Time

/// Counts of deliveries since the process started. All its dispatchers share it.
package final class DeliveryStatistics: Sendable {
    /// What an attempt ended with, a metric's label.
    package enum Outcome: String, Sendable, CaseIterable {
        case delivered
        /// Answered, but not 2xx.
        case refused
        case timeout
        /// No address, or no connection.
        case unreachable
        /// Not sent because of the address policy.
        case blocked
        /// Not sent because no key signs.
        case unsigned
    }

    /// Of one kind of message.
    package struct Counts: Sendable {
        package var attempts = Dictionary(uniqueKeysWithValues: Outcome.allCases.map { ($0, 0) })
        /// Messages whose last attempt failed.
        package var dead = 0
        /// How many deliveries took at most each of `bounds` from what they tell of on, not cumulative; the last is for all that
        /// took longer.
        package var buckets = [Int](repeating: 0, count: DeliveryStatistics.bounds.count + 1)
        package var seconds = 0.0
    }

    package struct Snapshot: Sendable {
        package var webhooks = Counts()
        package var logouts = Counts()
        package var appleRevocations = Counts()
        package var disabledEndpoints = 0

        fileprivate subscript(kind: DeliveryKind) -> Counts {
            get {
                switch kind {
                case .webhook: webhooks
                case .logout: logouts
                case .appleRevocation: appleRevocations
                }
            }
            set {
                switch kind {
                case .webhook: webhooks = newValue
                case .logout: logouts = newValue
                case .appleRevocation: appleRevocations = newValue
                }
            }
        }
    }

    /// Upper bounds of the histogram, in seconds.
    package static let bounds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400]

    private let counts = Mutex(Snapshot())

    package init() {}

    package var snapshot: Snapshot { counts.withLock { $0 } }

    func count<Message>(_ outcomes: [AttemptOutcome<Message>], _ recorded: RecordedOutcomes) {
        counts.withLock { snapshot in
            for outcome in outcomes {
                snapshot[Message.kind].attempts[outcome.kind, default: 0] += 1
                if outcome.failure == nil { snapshot[Message.kind].add(outcome.age) }
            }
            snapshot[Message.kind].dead += recorded.dead
            snapshot.disabledEndpoints += recorded.disabledEndpoints
        }
    }
}

extension DeliveryStatistics.Counts {
    fileprivate mutating func add(_ age: Duration) {
        let seconds = age / .seconds(1)
        self.seconds += seconds
        buckets[DeliveryStatistics.bounds.firstIndex { seconds <= $0 } ?? DeliveryStatistics.bounds.count] += 1
    }
}

extension AttemptOutcome {
    fileprivate var kind: DeliveryStatistics.Outcome {
        switch failure {
        case nil: .delivered
        case .status, .tooLarge: .refused
        case .timeout: .timeout
        case .unresolved, .connection: .unreachable
        case .forbidden: .blocked
        case .unsigned: .unsigned
        }
    }

    /// From what the message tells of to the answer.
    fileprivate var age: Duration { max(.zero, delivery.claimedAt + duration - delivery.occurredAt) }
}
