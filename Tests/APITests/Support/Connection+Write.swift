import Database
import MariaDB

extension Connection {
    /// A statement with which a test itself writes, outside of any transaction. A server repeats what meets a table that a node
    /// has opened without its triggers (`UnreadTriggers`), and so does this.
    @discardableResult
    func write(_ sql: StaticString, _ arguments: any Bindable...) throws -> Outcome {
        try write(sql, arguments: arguments)
    }

    @discardableResult
    func write(_ sql: StaticString, arguments: [any Bindable]) throws -> Outcome {
        do {
            return try execute(sql, arguments: arguments)
        } catch  where error.isUnreadTrigger {
            try UnreadTriggers.forget(after: error, on: self)
            return try execute(sql, arguments: arguments)
        }
    }
}
