import Accounts
import Analytics
import Database
import Time

/// A change made by the operator: one transaction, with its audit rows.
enum Operation {
    /// - Parameters:
    ///   - database: nil for a connection of its own.
    ///   - body: may run more than once.
    static func run<Result>(
        on database: Database? = nil, _ body: (AccountsTransaction) throws -> Result
    ) throws -> Result {
        do {
            return try (database ?? Environment.database()).transaction { connection in
                let transaction = AccountsTransaction(
                    connection: connection, now: Clock.system.now,
                    origin: Origin(requestID: "merganserctl", address: ""))
                let result = try body(transaction)
                try transaction.finish()
                return result
            }
        } catch let error as RefusedOperation {
            throw ToolError(.refused, error.description)
        }
    }

    /// - Parameter body: may run more than once.
    static func analytics<Result>(_ body: (AnalyticsTransaction) throws -> Result) throws -> Result {
        do {
            return try Environment.database().write(at: .system, body)
        } catch let error as OperatorError {
            throw ToolError(.refused, error.description)
        }
    }
}
