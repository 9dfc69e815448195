package import MariaDB

/// How often a transaction is repeated (accounts §0.4, analytics §3.3).
package struct RetryPolicy: Sendable {
    /// How many attempts there may be on a single server, including the first.
    package var attempts = 6
    /// No attempt but the first starts later than this after the start of the first, less what `catchUp` took before.
    package var patience: Duration = .seconds(15)
    /// Unique indexes on which a duplicate entry means that the row was there already, or that another request was faster. The
    /// next attempt sees that row.
    package var racyKeys: Set<String> = []

    package init(attempts: Int = 6, patience: Duration = .seconds(15), racyKeys: Set<String> = []) {
        self.attempts = attempts
        self.patience = patience
        self.racyKeys = racyKeys
    }

    package static let standard = RetryPolicy()

    /// On one server, transactions wait for each other's locks, one after the other. Between the nodes of a cluster nobody
    /// waits: whoever commits first aborts all others, so that the last of many needs as many attempts.
    func attempts(onCluster isCluster: Bool) -> Int { isCluster ? 5 * attempts : attempts }

    /// Full jitter: a random pause from zero to a bound, which doubles from 10 ms up to a second. No pause after the first attempt
    /// if a row was there already: whoever wrote it has committed.
    func delay(after attempt: Int, because failure: MariaDBError) -> Duration {
        if attempt == 1, racyDuplicate(failure) != nil { return .zero }
        return .milliseconds(Double.random(in: 0...min(10 * Double(1 << min(attempt - 1, 16)), 1000)))
    }

    /// The error if it is a duplicate entry on one of `racyKeys`.
    package func racyDuplicate(_ error: any Error) -> MariaDBError? {
        guard let error = error as? MariaDBError, let key = error.duplicateKey, racyKeys.contains(key) else {
            return nil
        }
        return error
    }
}
