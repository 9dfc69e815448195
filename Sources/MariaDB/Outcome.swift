/// What a statement did.
package struct Outcome: Equatable, Sendable {
    /// Rows inserted, deleted or really changed (an UPDATE to the same values counts 0); 1 for a row that
    /// `ON DUPLICATE KEY UPDATE` inserted and 2 for one it changed; for a SELECT the rows found.
    package let affectedRows: Int
    /// The `AUTO_INCREMENT` or `LAST_INSERT_ID(…)` value of this statement, 0 when there is none.
    package let lastInsertID: Int
    package let warningCount: Int
}
