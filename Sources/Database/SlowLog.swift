import MariaDB

/// Logs statements and transactions that reach a threshold. `StatementWatch` times statements and `Database` times
/// transactions; whoever makes the log (in a server, `Instance`) decides where its lines go.
///
/// It is called on the thread that did the work, before the thread continues.
package struct SlowLog: Sendable {
    /// One line: a statement has its text with placeholders and never an argument.
    package struct Line: Sendable {
        package enum Value: Equatable, Sendable {
            case number(Int)
            case text(String)
        }

        package let message: String
        package private(set) var fields: [String: Value]

        fileprivate init(_ message: String, _ elapsed: Duration, _ origin: String?, _ fields: [String: Value]) {
            self.message = message
            self.fields = fields
            self.fields["milliseconds"] = .number(Int(elapsed / .milliseconds(1)))
            self.fields["request_id"] = origin.map(Value.text)
        }
    }

    package let threshold: Duration
    private let write: @Sendable (Line) -> Void

    /// - Parameters:
    ///   - threshold: work that takes this long is slow.
    ///   - write: puts a line where lines go.
    package init(threshold: Duration, write: @escaping @Sendable (Line) -> Void) {
        self.threshold = threshold
        self.write = write
    }

    /// A statement that `StatementWatch` found to be slow. `connection` is the server's id of it.
    func note(_ statement: SlowStatement) {
        var fields: [String: Line.Value] = [
            "rows": .number(statement.rows), "sql": .text(statement.sql.inOneLine),
            "connection": .number(statement.connection),
        ]
        fields["error_code"] = statement.errorCode.map(Line.Value.number)
        write(Line("slow statement", statement.elapsed, statement.origin, fields))
    }

    /// A transaction, all its attempts and the pauses between them, if it was slow.
    ///
    /// - Parameters:
    ///   - isCommitted: false when it was given up, or refused by its own closure.
    ///   - origin: `Database.origin`.
    func noteTransaction(_ elapsed: Duration, attempts: Int, isCommitted: Bool, for origin: String?) {
        guard elapsed >= threshold else { return }
        let outcome = isCommitted ? "committed" : "given up"
        write(Line("slow transaction", elapsed, origin, ["attempts": .number(attempts), "outcome": .text(outcome)]))
    }
}

extension String {
    fileprivate var inOneLine: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
