import Database
import Logging
import MariaDB

extension SlowLog {
    /// Writes a line for each. `request_id` is nginx's; `connection` is MariaDB's.
    init(threshold: Duration, _ logger: Logger) {
        self.init(
            threshold: threshold,
            statement: { statement in
                var metadata: Logger.Metadata = [
                    "milliseconds": .stringConvertible(statement.elapsed.inMilliseconds),
                    "rows": .stringConvertible(statement.rows), "sql": "\(statement.sql.inOneLine)",
                    "connection": .stringConvertible(statement.connection),
                ]
                metadata["request_id"] = statement.origin.map { "\($0)" }
                metadata["error_code"] = statement.errorCode.map { .stringConvertible($0) }
                logger.notice("slow statement", metadata: metadata)
            },
            transaction: { transaction in
                var metadata: Logger.Metadata = [
                    "milliseconds": .stringConvertible(transaction.elapsed.inMilliseconds),
                    "attempts": .stringConvertible(transaction.attempts),
                    "outcome": transaction.isCommitted ? "committed" : "given up",
                ]
                metadata["request_id"] = transaction.origin.map { "\($0)" }
                logger.notice("slow transaction", metadata: metadata)
            })
    }
}

extension Duration {
    fileprivate var inMilliseconds: Int { Int(self / .milliseconds(1)) }
}

extension String {
    fileprivate var inOneLine: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
