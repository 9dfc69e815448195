/// How long key sets live and how long anybody waits for one (accounts §1.5).
package struct KeySetLimits: Sendable {
    /// Bounds of `Cache-Control: max-age`.
    package var lifetime: ClosedRange<Duration> = .seconds(300)...(.seconds(86_400))
    /// Without `max-age`.
    package var defaultLifetime: Duration = .seconds(3600)
    /// How long past its lifetime a set serves while no newer one can be fetched.
    package var staleness: Duration = .seconds(86_400)
    /// Between two fetches that unknown keys cause.
    package var unknownKeyPause: Duration = .seconds(60)
    /// After a failed fetch, doubled with each further one up to the upper bound.
    package var retryPause: ClosedRange<Duration> = .seconds(5)...(.seconds(60))
    /// How long a caller waits for a fetch.
    package var patience: Duration = .seconds(2)
    /// How many callers wait at a time, whichever the provider; the others are told at once that the set is not available,
    /// so that slow providers cannot stop all threads.
    package var waitingCallers = 8
    package var fetchTimeout: Duration = .seconds(5)
    /// Of a key set, in bytes.
    package var maximumSize = 256 << 10

    package init() {}
}
