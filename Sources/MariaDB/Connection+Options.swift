import CMariaDB

extension Connection {
    package struct Options: Sendable {
        package enum Address: Sendable, Equatable {
            case unixSocket(String)
            case tcp(host: String, port: Int)

            /// Whether nothing on the way can listen in. A host counts in the spelling in which operators set it.
            package var isThisMachine: Bool {
                switch self {
                case .unixSocket: true
                case .tcp(let host, _): ["localhost", "127.0.0.1", "::1"].contains(host)
                }
            }
        }

        /// TLS is always verified: the certificate must be from this authority, and have the host's name.
        package struct TLS: Sendable {
            /// A PEM file.
            package var authorityFile: String

            package init(authorityFile: String) { self.authorityFile = authorityFile }
        }

        package var address: Address
        package var user: String
        package var password: String?
        package var database: String?
        /// Required for every address outside this machine.
        package var tls: TLS?
        package var connectTimeout: Duration = .seconds(3)
        /// How long an answer may take. It is longer than `maxStatementTime` and `lockWaitTimeout`, so that the server
        /// reports a time-out first, and longer than the 7 s that a Galera cluster may need to drop a dead node.
        package var readTimeout: Duration = .seconds(12)
        package var writeTimeout: Duration = .seconds(12)
        package var maxStatementTime: Duration = .seconds(8)
        /// How long to wait for row locks and metadata locks; whole seconds.
        package var lockWaitTimeout: Duration = .seconds(3)
        /// How long a transaction may go without a statement before the server ends it and releases its locks. Then its
        /// thread hangs, or its machine is gone. Whole seconds.
        package var idleTransactionTimeout: Duration = .seconds(20)
        /// How many prepared statements are kept; the least recently used one is removed. The server's own limit, for
        /// all connections together, is `max_prepared_stmt_count`, 16 382 by default.
        package var statementCacheLimit = 256

        package init(
            address: Address, user: String, password: String? = nil, database: String? = nil, tls: TLS? = nil
        ) {
            self.address = address
            self.user = user
            self.password = password
            self.database = database
            self.tls = tls
        }
    }
}

extension Connection.Options {
    /// Throws if the connection would be unprotected, or if a time-out is shorter than one that must end first.
    package func validate() throws(MariaDBError) {
        if case .tcp(let host, _) = address, tls == nil, !address.isThisMachine {
            throw MariaDBError(
                "\(host) is not this machine: give the file of the authority that signed the database's certificate")
        }
        if case .unixSocket(let path) = address, tls != nil {
            throw MariaDBError("\(path) is on this machine: leave the authority's file out")
        }
        guard readTimeout > max(maxStatementTime, lockWaitTimeout) else {
            throw MariaDBError("the read timeout must be longer than the statement and the lock wait timeout")
        }
        guard maxStatementTime > .zero, connectTimeout > .zero, writeTimeout > .zero,
            min(lockWaitTimeout, idleTransactionTimeout) >= .seconds(1)
        else {
            throw MariaDBError(
                "timeouts must be above zero, those for locks and of idle transactions at least one second")
        }
    }

    /// The settings of every session, as one statement.
    var session: String {
        """
        SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin, autocommit = 1, tx_isolation = 'READ-COMMITTED', \
        sql_mode = 'STRICT_ALL_TABLES,ONLY_FULL_GROUP_BY,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,\
        NO_ENGINE_SUBSTITUTION', time_zone = '+00:00', max_statement_time = \(maxStatementTime / .seconds(1)), \
        innodb_lock_wait_timeout = \(lockWaitTimeout.components.seconds), \
        lock_wait_timeout = \(lockWaitTimeout.components.seconds), \
        idle_transaction_timeout = \(idleTransactionTimeout.components.seconds)
        """
    }

    func apply(to handle: UnsafeMutablePointer<MYSQL>) throws(MariaDBError) {
        func set(_ option: mysql_option, _ value: UnsafeRawPointer) throws(MariaDBError) {
            guard mysql_options(handle, option, value) == 0 else {
                throw MariaDBError("libmariadb does not know option \(option.rawValue)")
            }
        }
        func set(_ option: mysql_option, seconds timeout: Duration) throws(MariaDBError) {
            var seconds = UInt32(clamping: timeout.components.seconds + (timeout.components.attoseconds > 0 ? 1 : 0))
            try set(option, &seconds)
        }
        var on: my_bool = 1
        var off: UInt32 = 0
        try set(MYSQL_SET_CHARSET_NAME, "utf8mb4")
        try set(MYSQL_OPT_CONNECT_TIMEOUT, seconds: connectTimeout)
        try set(MYSQL_OPT_READ_TIMEOUT, seconds: readTimeout)
        try set(MYSQL_OPT_WRITE_TIMEOUT, seconds: writeTimeout)
        // Otherwise, a server could ask for any file that this process can read.
        try set(MYSQL_OPT_LOCAL_INFILE, &off)
        var transport =
            switch address {
            case .unixSocket: MYSQL_PROTOCOL_SOCKET
            case .tcp: MYSQL_PROTOCOL_TCP
            }
        try set(MYSQL_OPT_PROTOCOL, &transport)
        if let tls {
            // SSL_ENFORCE alone would accept a server without encryption; verification does not.
            try set(MYSQL_OPT_SSL_CA, tls.authorityFile)
            try set(MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on)
            try set(MYSQL_OPT_SSL_ENFORCE, &on)
        }
    }
}

extension Connection.Options: CustomStringConvertible, CustomReflectable {
    /// Without the password.
    package var description: String { "\(user)@\(address)/\(database ?? "")" }

    package var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}

extension Connection.Options.Address: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unixSocket(let path): path
        case .tcp(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }
}
