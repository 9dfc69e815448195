package import Database

/// Checks every invariant, each at one moment: writers need not be stopped. Reads all tables from end to end.
package enum Verification {
    /// - Parameter step: called before each check.
    package static func run(_ database: Database, step: (Invariant) -> Void = { _ in }) throws -> [Violation] {
        try Invariant.allCases.compactMap { invariant in
            step(invariant)
            let rows = try database.read { try $0.violations(of: invariant) }
            return rows.isEmpty ? nil : Violation(invariant: invariant, rows: rows)
        }
    }
}

/// Rows that break an invariant.
package struct Violation: Equatable, Sendable {
    /// The most rows of one invariant that are named.
    package static let limit = 100

    package let invariant: Invariant
    /// Each a table and the key of its row; never what people sent.
    package let rows: [String]
}
