import Synchronization
package import Time

/// A clock that advances only if a test moves it.
package final class TestClock: Sendable {
    private let time: Mutex<Timestamp>
    private let readings = Atomic(0)

    /// Begins at 2026-05-12T07:00:00Z.
    package init(_ start: Timestamp = Timestamp(seconds: 1_778_569_200)) { time = Mutex(start) }

    package var now: Timestamp { time.withLock { $0 } }

    package func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }

    package var clock: Clock {
        Clock {
            self.readings.add(1, ordering: .relaxed)
            return self.now
        }
    }

    /// How often `clock` has been read.
    package var reads: Int { readings.load(ordering: .relaxed) }
}
