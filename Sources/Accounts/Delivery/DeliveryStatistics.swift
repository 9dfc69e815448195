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

    package struct Snapshot: Sendable {
        package var attempts = Dictionary(uniqueKeysWithValues: Outcome.allCases.map { ($0, 0) })
        package var dead = 0
        package var disabledEndpoints = 0
        /// How many deliveries took at most each of `bounds` from the event on, not cumulative; the last is for all that
        /// took longer.
        package var buckets = [Int](repeating: 0, count: DeliveryStatistics.bounds.count + 1)
        package var seconds = 0.0
    }

    /// Upper bounds of the histogram, in seconds.
    package static let bounds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400]

    private let counts = Mutex(Snapshot())

    package init() {}

    package var snapshot: Snapshot { counts.withLock { $0 } }

    func count(_ outcomes: [DeliveryOutcome], _ recorded: RecordedOutcomes) {
        counts.withLock { counts in
            for outcome in outcomes {
                counts.attempts[outcome.kind, default: 0] += 1
                if outcome.failure == nil { counts.add(outcome.age) }
            }
            counts.dead += recorded.dead
            counts.disabledEndpoints += recorded.disabledEndpoints
        }
    }
}

extension DeliveryStatistics.Snapshot {
    fileprivate mutating func add(_ age: Duration) {
        let seconds = age / .seconds(1)
        self.seconds += seconds
        buckets[DeliveryStatistics.bounds.firstIndex { seconds <= $0 } ?? DeliveryStatistics.bounds.count] += 1
    }
}

extension DeliveryOutcome {
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

    /// From the event to the answer.
    fileprivate var age: Duration { max(.zero, delivery.claimedAt + duration - delivery.occurredAt) }
}
