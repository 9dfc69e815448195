import TestSupport
import Testing

/// Each context has one way into a transaction, with its retry policy and, for accounts, its audit rows. The compiler
/// would not notice a second way.
@Suite struct TransactionEntryTests {
    private static let entries: Set = [
        "Accounts/Transactions/AccountsTransaction.swift", "Analytics/Transactions/AnalyticsTransaction.swift",
    ]

    @Test func onlyTheContextsOpenTransactions() throws {
        #expect(try Repository.sources(with: /\.transaction\b/, outside: ["Database/"]) == Self.entries)
    }

    /// Notes of use and DDL: statements of their own, whose failure fails nothing.
    @Test func fewStatementsAreCommittedOnTheirOwn() throws {
        #expect(
            try Repository.sources(with: /\.autocommit\b/, outside: ["Database/"]) == [
                "API/Endpoints/Tokens/IssueTokens.swift", "API/Routing/Call+Faults.swift",
                "API/Routing/Credential.swift", "API/Routing/Visitor.swift", "AnalyticsJobs/Retention.swift",
            ])
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
