import CMariaDB

/// What the server, Connector/C or this wrapper refused. It never holds a statement's arguments or a stored value.
@usableFromInline
package struct MariaDBError: Error, Hashable, Sendable {
    /// The server's (1000–1999, 3000 up) or Connector/C's (2000–2999, 5000–5999) error number; 0 for this wrapper's own.
    package let code: Int
    /// Five characters of SQLSTATE.
    package let sqlState: String
    /// The message with quoted values replaced by `…`.
    package let message: String
    /// The statement's text with its placeholders; empty when there was none.
    package let sql: String
    /// The index that a duplicate entry (1062) violates, without its table: `email`.
    package let duplicateKey: String?

    init(code: Int, sqlState: String, serverMessage: String, sql: String) {
        self.code = code
        self.sqlState = sqlState
        message = Redaction.message(serverMessage, code: code)
        self.sql = sql
        duplicateKey = code == Int(ER_DUP_ENTRY) ? Redaction.duplicateKey(serverMessage) : nil
    }

    /// A failure this package found by itself, such as a column of another type. `message` must not hold values.
    package init(_ message: String, sql: String = "") {
        code = 0
        sqlState = "HY000"
        self.message = message
        self.sql = sql
        duplicateKey = nil
    }
}

extension MariaDBError {
    /// The connection is gone or was never there; the server rolls back what was not committed.
    package var isConnectionLost: Bool {
        switch code {
        case 2002, 2003, 2005, 2006, 2012, 2013, 2055,  // Connector/C: cannot connect, gone away, lost
            5013, 5014,  // Connector/C: error reading, writing
            1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927:  // server: shutdown, aborted, network, connection killed
            true
        default: false
        }
    }

    /// The whole transaction may succeed when it is repeated: deadlock, lock wait, record changed since it was read, a
    /// Galera node that is not ready, error during COMMIT (accounts §0.4).
    package var isTransient: Bool { [1213, 1205, 1020, 1047, 1180].contains(code) }

    /// The server lacks what the statement takes: disk, memory, room for its locks, or time within `max_statement_time`.
    /// Repeating it at once would only add to that; later it may succeed.
    package var isShortage: Bool { [1021, 1037, 1041, 1114, 1206, 1969].contains(code) }

    /// After this error nothing of the transaction may be committed. After 1213 the server has rolled back, yet answers
    /// a COMMIT with OK; after 1205 it may or may not have, by `innodb_rollback_on_timeout`.
    var endsTransaction: Bool { isTransient || isConnectionLost }
}

extension MariaDBError: CustomStringConvertible {
    @usableFromInline
    package var description: String {
        let place = sql.isEmpty ? "" : " [\(sql)]"
        return code == 0 ? message + place : "\(code) (\(sqlState)): \(message)\(place)"
    }
}
