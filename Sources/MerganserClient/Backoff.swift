/// How long to wait before a request is repeated: exponential, with full jitter, so that devices which failed together do
/// not come back together.
package struct Backoff: Sendable {
    /// The longest wait before the first repetition; it doubles with each.
    package var base: Duration
    package var longest: Duration
    /// How often a request is sent at most before its failure is reported.
    package var attempts: Int

    package init(base: Duration = .milliseconds(500), longest: Duration = .seconds(30), attempts: Int = 4) {
        (self.base, self.longest, self.attempts) = (base, longest, attempts)
    }

    /// - Parameters:
    ///   - attempt: how often the request was sent, from 1.
    ///   - asked: the answer's Retry-After; a longer wait than this is kept to the jitter's.
    /// - Returns: nil if the failure is to be reported, since attempts have run out or the server asks for more patience
    ///   than a caller has.
    package func wait(after attempt: Int, asked: Duration?) -> Duration? {
        guard attempt < attempts, asked ?? .zero <= longest else { return nil }
        let bound = min(longest, base * (1 << min(attempt - 1, 16)))
        return (asked ?? .zero) + bound * Double.random(in: 0...1)
    }
}
