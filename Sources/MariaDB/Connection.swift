import CMariaDB

/// One connection to MariaDB with its prepared statements.
///
/// This target owns libmariadb: connections, statements, values, errors. It knows no tables, does not retry and does
/// not decide when a transaction begins; `Database` does.
///
/// A connection belongs to one thread at a time. Connector/C keeps no state per thread: its `mysql_thread_init` and
/// `mysql_thread_end` do nothing, so any thread may open, use and close connections without them. Only
/// `mysql_server_init` must have run before the first connection, once and not concurrently; `Library` does that.
///
/// Its properties are not checked for overlapping accesses at run time, since each request makes many. What an access calls before
/// it ends, such as a statement's `deinit` or a key's hash, uses no property of the connection.
@usableFromInline
package final class Connection {
    package let options: Options
    /// Measures the time of this connection's statements.
    @exclusivity(unchecked) package var watch: StatementWatch?
    let handle: UnsafeMutablePointer<MYSQL>
    @exclusivity(unchecked) var statements: [StatementKey: Statement] = [:]
    @exclusivity(unchecked) var statementsRun = 0
    /// Why this connection can no longer be used.
    @exclusivity(unchecked) package private(set) var lost: MariaDBError?
    /// An error since `begin` after which nothing may be committed, even if a caller ignored it.
    @exclusivity(unchecked) package internal(set) var failure: MariaDBError?
    /// Whether the server is a node of a Galera cluster. All servers that one address may lead to are, or none is, and
    /// the server itself cannot be wrong about it as a setting could.
    @exclusivity(unchecked) package private(set) var isClusterNode = false
    /// Between `begin` and `commit` or `rollback`.
    @exclusivity(unchecked) var isInOwnTransaction = false
    /// See `executeLater`.
    @exclusivity(unchecked) var waiting = WaitingStatements()
    /// An error of a block of statements, after which it can only be rolled back.
    @exclusivity(unchecked) package internal(set) var broken: MariaDBError?

    /// Connects, verifies TLS if the options ask for it, and sets up the session in two more round trips.
    package init(_ options: Options) throws(MariaDBError) {
        try options.validate()
        Library.initialize
        guard let handle = mysql_init(nil) else { throw MariaDBError("out of memory") }
        self.handle = handle
        self.options = options
        try options.apply(to: handle)
        let connected =
            switch options.address {
            case .unixSocket(let path):
                mysql_real_connect(handle, nil, options.user, options.password, options.database, 0, path, 0)
            case .tcp(let host, let port):
                mysql_real_connect(
                    handle, host, options.user, options.password, options.database, UInt32(port), nil, 0)
            }
        guard connected != nil else { throw MariaDBError(of: handle, sql: "") }
        if options.tls != nil, mysql_get_ssl_cipher(handle) == nil {
            throw MariaDBError("the server at \(options.address) did not encrypt the connection")
        }
        try perform(options.session)
        isClusterNode = try answersAsClusterNode()
    }

    /// Statements outlive the connection for a moment: `mysql_close` detaches them, so that freeing them sends nothing.
    deinit { mysql_close(handle) }

    /// The server's id of this connection, as `KILL` takes it.
    package var threadID: Int { Int(mysql_thread_id(handle)) }

    /// `10.11.19-MariaDB-0+deb12u1`.
    package var serverVersion: String { String(cString: mysql_get_server_info(handle)) }

    /// Runs a statement without a result over the text protocol.
    func perform(_ sql: String) throws(MariaDBError) {
        let start = watch.map { _ in StatementWatch.now }
        let isDone = mysql_real_query(handle, sql, UInt(sql.utf8.count)) == 0
        let error = isDone ? nil : note(MariaDBError(of: handle, sql: sql))
        if let watch, let start { watch.note(since: start, on: self, sql, error: error) }
        if let error { throw error }
    }

    /// After a `failure` the server may have ended the transaction, so that a statement would be committed by itself.
    func checkTransaction() throws(MariaDBError) {
        if isInOwnTransaction, let error = failure ?? broken { throw error }
    }

    /// Errors of executing a statement pass here; those of reading its rows do not.
    func note(_ error: MariaDBError) -> MariaDBError {
        if error.isConnectionLost, lost == nil { lost = error }
        if error.endsTransaction, failure == nil { failure = error }
        return error
    }
}

private enum Library {
    /// Swift initializes a global once, in the first thread that uses it.
    static let initialize: Void = {
        precondition(mysql_server_init(0, nil, nil) == 0, "libmariadb cannot be initialized")
    }()
}
