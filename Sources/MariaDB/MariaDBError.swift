import CMariaDB

/// An error of the server, of Connector/C or of this wrapper. It never has a statement's arguments or a stored value.
@usableFromInline
package struct MariaDBError: Error, Hashable, Sendable {
    /// The error number of the server (1000–1999, 3000 up) or of Connector/C (2000–2999, 5000–5999); 0 for this
    /// wrapper's own errors.
    package let code: Int
    /// The SQLSTATE, five characters.
    package let sqlState: String
    /// The message, in which `…` replaces quoted values.
    package let message: String
    /// The statement's text with its placeholders; empty if there was no statement.
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

    /// An error that this package found itself, such as a column of another type. `message` must not have values.
    package init(_ message: String, sql: String = "") {
        code = 0
        sqlState = "HY000"
        self.message = message
        self.sql = sql
        duplicateKey = nil
    }
}

extension MariaDBError {
    /// The connection is lost or was never made; the server rolls back uncommitted changes.
    package var isConnectionLost: Bool {
        switch code {
        case 2002, 2003, 2005, 2006, 2012, 2013, 2055,  // Connector/C: cannot connect, gone away, lost
            5013, 5014,  // Connector/C: error reading, writing
            1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927:  // server: shutdown, aborted, network, connection killed
            true
        default: false
        }
    }

    /// The whole transaction may succeed if it is repeated: after a deadlock, a lock wait time-out, a record that
    /// changed since it was read, a Galera node that is not ready, or an error during COMMIT (accounts §0.4).
    package var isTransient: Bool { [1213, 1205, 1020, 1047, 1180].contains(code) }

    /// COMMIT answered this, and nothing was committed: the server refused it (1047), or other nodes of the cluster did
    /// (1213). After 1180 that is not so: a node that loses the others while it commits answers it, although they may
    /// have got the transaction and committed it.
    package var isRefusedCommit: Bool { isTransient && code != 1180 }

    /// A row that this one refers to, or that refers to it, is missing or there against the constraint. On a cluster
    /// another node's commit may be the reason; the repeated transaction sees it.
    package var isBrokenReference: Bool { [1451, 1452].contains(code) }

    /// The server has opened a table without being able to read its triggers; only opening it anew helps. The message begins
    /// with the trigger's name, if the server got as far as that, or with "Unknown trigger".
    package var isUnreadTrigger: Bool { code == 1064 && message.contains(" has an error in its body: ") }

    /// A trigger names a table that the server has not opened for it: the statement was prepared while the trigger was being
    /// made, when its table already had another one (MariaDB 10.11.19). Prepared anew, the statement succeeds. A table that
    /// does not exist has the same error.
    package var isUnforeseenTrigger: Bool { code == 1146 }

    /// The same statement may succeed once the server knows its triggers.
    package var isTriggerFault: Bool { isUnreadTrigger || isUnforeseenTrigger }

    static func clusterAbort(sql: String) -> Self {
        MariaDBError(
            code: 1213, sqlState: "40001", serverMessage: "the cluster has ended the transaction", sql: sql)
    }

    /// The server lacks a resource that the statement needs: disk, memory, room for its locks, or time within
    /// `max_statement_time`. Repeating the statement at once would make this worse; later it may succeed.
    package var isShortage: Bool { [1021, 1037, 1041, 1114, 1206, 1969].contains(code) }

    /// After this error nothing of the transaction may be committed. After 1213 the server has rolled back, but still
    /// answers a COMMIT with OK. After 1205 it may have rolled back, depending on `innodb_rollback_on_timeout`.
    var endsTransaction: Bool { isTransient || isConnectionLost }
}

extension MariaDBError: CustomStringConvertible {
    @usableFromInline
    package var description: String {
        let place = sql.isEmpty ? "" : " [\(sql)]"
        return code == 0 ? message + place : "\(code) (\(sqlState)): \(message)\(place)"
    }
}
