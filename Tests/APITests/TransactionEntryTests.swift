import TestSupport
import Testing

/// Each context has one way into a transaction, with its retry policy and, for accounts, its audit rows. The compiler
/// would not notice a second way.
/// way would compile.
@Suite struct TransactionEntryTests {
    private static let entries: Set = [
        "Accounts/Transactions/AccountsTransaction.swift", "Analytics/Transactions/AnalyticsTransaction.swift",
    ]

    @Test func onlyTheContextsOpenTransactions() throws {
        #expect(try Repository.sources(with: /\.transaction\b/, outside: ["Database/"]) == Self.entries)
    }

    @Test func onlyTheContextsHavePolicies() throws {
        #expect(try Repository.sources(with: /\bRetryPolicy\b/, outside: ["Database/"]) == Self.entries)
    }

    /// Migrations are not repeated, and belong to no context.
    @Test func onlyMigrationsGoPastTheDatabase() throws {
        let opening = /START TRANSACTION|\.begin\(\)|\.beginSnapshot\(\)/
        #expect(
            try Repository.sources(with: opening, outside: ["Database/", "MariaDB/"]) == ["Migrations/Migrator.swift"])
    }
}
