package import MariaDB

/// Told of work that took long. It is told on the thread that did the work, before that goes on.
package struct SlowLog: Sendable {
    package let threshold: Duration
    package let statement: @Sendable (SlowStatement) -> Void
    package let transaction: @Sendable (SlowTransaction) -> Void

    /// - Parameter threshold: from which duration on.
    package init(
        threshold: Duration, statement: @escaping @Sendable (SlowStatement) -> Void,
        transaction: @escaping @Sendable (SlowTransaction) -> Void
    ) {
        self.threshold = threshold
        self.statement = statement
        self.transaction = transaction
    }
}
