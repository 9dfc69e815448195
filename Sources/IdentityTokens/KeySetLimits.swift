/// How long key sets live, and how long callers wait for one (accounts §1.5).
package struct KeySetLimits: Sendable {
    /// The bounds that `Cache-Control: max-age` is limited to.
    package var lifetime: ClosedRange<Duration> = .seconds(300)...(.seconds(86_400))
    /// The lifetime without `max-age`.
    package var defaultLifetime: Duration = .seconds(3600)
    /// How long a set is used past its lifetime while no newer one can be fetched.
    package var staleness: Duration = .seconds(86_400)
    /// The pause between two fetches that unknown keys cause.
    package var unknownKeyPause: Duration = .seconds(60)
    /// The pause after a failed fetch. It doubles with each further failure, up to the upper bound.
    package var retryPause: ClosedRange<Duration> = .seconds(5)...(.seconds(60))
    /// How long a caller waits for a fetch.
    package var patience: Duration = .seconds(2)
    /// How many callers may wait at a time, for all providers together. For others the set is unavailable at once, so
    /// that slow providers cannot block all threads.
    package var waitingCallers = 8
    package var fetchTimeout: Duration = .seconds(5)
    /// The largest key set, in bytes.
    package var maximumSize = 256 << 10

    package init() {}
}
