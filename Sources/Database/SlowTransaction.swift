/// A transaction that took long, all its attempts and the pauses between them.
package struct SlowTransaction: Sendable {
    package let elapsed: Duration
    package let attempts: Int
    /// False when it was given up, or refused by its own closure.
    package let isCommitted: Bool
    /// `Database.origin`.
    package let origin: String?
}
