/// Distinguishes busy workers from stuck ones.
struct WorkerProgress {
    /// Longer than any request may take: transactions repeat for 15 s, and the last attempt may wait for the database.
    static let patience = Duration.seconds(60)

    private let threads: Int
    private var requests = 0
    private var lastProgress = ContinuousClock.now

    init(threads: Int) { self.threads = threads }

    /// Whether some worker is free, or one has finished a request within the last minute.
    mutating func isMade(requests: Int, inFlight: Int, at now: ContinuousClock.Instant) -> Bool {
        if inFlight < threads || requests != self.requests {
            self.requests = requests
            lastProgress = now
        }
        return now - lastProgress < Self.patience
    }
}
