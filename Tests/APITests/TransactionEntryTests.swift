import TestSupport
import Testing

/// Each context has one way into a transaction, with its retry policy and, on the accounts' tables, its audit rows. A second
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

    /// A migration is neither repeated nor any context's.
    @Test func onlyMigrationsGoPastTheDatabase() throws {
        let opening = /START TRANSACTION|\.begin\(\)|\.beginSnapshot\(\)/
        #expect(
            try Repository.sources(with: opening, outside: ["Database/", "MariaDB/"]) == ["Migrations/Migrator.swift"])
    }
}
