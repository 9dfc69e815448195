import Accounts
import Database
import Time

/// A change made by the operator: one transaction, with its audit rows.
enum Operation {
    /// - Parameter body: may run more than once.
    static func run<Result>(_ body: (AccountsTransaction) throws -> Result) throws -> Result {
        do {
            return try Environment.database().transaction { connection in
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
}
