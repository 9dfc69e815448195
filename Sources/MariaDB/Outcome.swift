/// The result of a statement without rows.
package struct Outcome: Equatable, Sendable {
    /// How many rows were inserted, deleted or really changed (an UPDATE to the same values counts 0). With
    /// `ON DUPLICATE KEY UPDATE`, an inserted row counts 1 and a changed one 2. For a SELECT, how many rows were found.
    package let affectedRows: Int
    /// The `AUTO_INCREMENT` or `LAST_INSERT_ID(…)` value of this statement; 0 if there is none.
    package let lastInsertID: Int
    package let warningCount: Int
}
