import MariaDB
import Migrations
import Time

/// How a MariaDB server must be set up for merganserd.
struct DatabaseChecks {
    private let connection: Connection
    private let threads: Int
    private let dispatchers: Int

    /// - Parameters: of one instance; each thread has a connection.
    init(_ connection: Connection, threads: Int, dispatchers: Int) {
        self.connection = connection
        self.threads = threads
        self.dispatchers = dispatchers
    }

    func findings() throws -> [Finding] {
        let before = Clock.system.now
        let server = try settings()
        let middle = before + (Clock.system.now - before) / 2
        return [
            version(), try schema(), try grants(), session(server), sqlMode(server), timeZone(server),
            try collation(), clock(server.now - middle), flush(server), binaryLog(server), triggers(server),
            connections(server), preparedStatements(server), waitTimeout(server),
        ].compactMap { $0 }
    }

    private struct Settings {
        let sessionMode: String
        let isolation: String
        let sessionTimeZone: String
        let globalMode: String
        let globalTimeZone: String
        let systemTimeZone: String
        let flushLogAtCommit: Int
        let hasBinaryLog: Bool
        let syncBinaryLog: Int
        let trustsFunctionCreators: Bool
        let maxConnections: Int
        let maxPreparedStatements: Int
        let waitTimeout: Int
        let now: Timestamp
    }

    private func settings() throws -> Settings {
        let settings = try connection.first(
            """
            SELECT @@session.sql_mode, @@session.tx_isolation, @@session.time_zone, @@global.sql_mode,
                   @@global.time_zone, @@global.system_time_zone, @@global.innodb_flush_log_at_trx_commit,
                   @@global.log_bin, @@global.sync_binlog, @@global.log_bin_trust_function_creators,
                   @@global.max_connections, @@global.max_prepared_stmt_count, @@global.wait_timeout, UTC_TIMESTAMP(3)
            """
        ) { row in
            Settings(
                sessionMode: try row.read(), isolation: try row.read(), sessionTimeZone: try row.read(),
                globalMode: try row.read(), globalTimeZone: try row.read(), systemTimeZone: try row.read(),
                flushLogAtCommit: try row.read(), hasBinaryLog: try row.read(), syncBinaryLog: try row.read(),
                trustsFunctionCreators: try row.read(), maxConnections: try row.read(),
                maxPreparedStatements: try row.read(), waitTimeout: try row.read(), now: try row.read())
        }
        guard let settings else { throw MariaDBError("a SELECT without table gave no row") }
        return settings
    }

    // MARK: What the server is

    private func version() -> Finding {
        let version = connection.serverVersion
        let numbers = version.split(separator: ".").prefix(2).compactMap { Int($0) }
        guard version.contains("MariaDB") else {
            return .fail("version", "\(version) is not MariaDB", "use MariaDB 10.11 or later")
        }
        guard numbers.count == 2, (numbers[0], numbers[1]) >= (10, 11) else {
            return .fail("version", version, "use MariaDB 10.11 or later")
        }
        return .ok("version", version)
    }

    private func schema() throws -> Finding {
        guard let problem = try SchemaCheck.problem(connection) else {
            return .ok("schema", "at \(SchemaCheck.version), as this release needs")
        }
        let mend =
            switch problem {
            case .newerIncompatible: "install the newer release"
            case .neverMigrated, .behind, .unfinished: "merganserctl migrate up"
            }
        return .fail("schema", "\(problem)", mend)
    }

    private func clock(_ ahead: Duration) -> Finding {
        let seconds = ahead / .seconds(1)
        let message = "the database's clock differs from this machine's by \((seconds * 1000).rounded() / 1000) s"
        let mend = "synchronize both machines' clocks with NTP; expiries are compared across them"
        return abs(seconds) < 1
            ? .ok("clock", message) : abs(seconds) < 5 ? .warn("clock", message, mend) : .fail("clock", message, mend)
    }

    // MARK: What this account may do

    private func grants() throws -> Finding {
        let privileges = try connection.all(
            """
            SELECT PRIVILEGE_TYPE FROM information_schema.USER_PRIVILEGES
            WHERE GRANTEE = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')
            UNION SELECT PRIVILEGE_TYPE FROM information_schema.SCHEMA_PRIVILEGES
            WHERE GRANTEE = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''') AND DATABASE() LIKE TABLE_SCHEMA
            """
        ) { row in try row.read(String.self) }
        let missing = ["SELECT", "INSERT", "UPDATE", "DELETE"].filter { !privileges.contains($0) }
        guard missing.isEmpty else {
            return .fail(
                "grants", "this account lacks \(missing.joined(separator: ", ")) on the schema",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON \(connection.options.database ?? "").* TO its user; "
                    + "this check does not see privileges of single tables or roles")
        }
        let excessive = ["SUPER", "FILE", "SHUTDOWN", "CREATE USER"].filter { privileges.contains($0) }
        guard excessive.isEmpty else {
            return .warn(
                "grants", "this account also has \(excessive.joined(separator: ", "))",
                "give the server an account with SELECT, INSERT, UPDATE, DELETE only")
        }
        return .ok("grants", "SELECT, INSERT, UPDATE, DELETE")
    }

    // MARK: The session's settings

    private func session(_ server: Settings) -> Finding {
        let modes = server.sessionMode.split(separator: ",")
        guard modes.contains("STRICT_ALL_TABLES"), server.isolation == "READ-COMMITTED",
            server.sessionTimeZone == "+00:00"
        else {
            return .fail(
                "session", "\(server.sessionMode), \(server.isolation), time zone \(server.sessionTimeZone)",
                "something between merganserctl and the database changes the session's settings: connect directly")
        }
        return .ok("session", "strict, READ COMMITTED, UTC")
    }

    // MARK: What other clients get

    private func sqlMode(_ server: Settings) -> Finding {
        server.globalMode.contains("STRICT_")
            ? .ok("sql_mode", server.globalMode)
            : .warn(
                "sql_mode", "\"\(server.globalMode)\" is not strict: other clients can store mangled values",
                "sql_mode = STRICT_TRANS_TABLES,… in the [mariadbd] section")
    }

    private func timeZone(_ server: Settings) -> Finding {
        let zone = server.globalTimeZone == "SYSTEM" ? server.systemTimeZone : server.globalTimeZone
        return ["UTC", "+00:00", "GMT", "Etc/UTC"].contains(zone)
            ? .ok("time_zone", zone)
            : .warn(
                "time_zone", "\(zone): other clients read and write times that are not UTC",
                "default_time_zone = '+00:00' in the [mariadbd] section")
    }

    private func collation() throws -> Finding {
        let schema = try connection.first(
            """
            SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA
            WHERE SCHEMA_NAME = DATABASE()
            """
        ) { row in (characterSet: try row.read(String.self), collation: try row.read(String.self)) }
        let others = try connection.all(
            """
            SELECT TABLE_NAME FROM information_schema.TABLES
            WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE' AND TABLE_COLLATION NOT LIKE 'utf8mb4\\_%'
            ORDER BY TABLE_NAME
            """
        ) { row in try row.read(String.self) }
        guard others.isEmpty else {
            return .fail(
                "collation", "not utf8mb4: \(others.joined(separator: ", "))",
                "ALTER TABLE … CONVERT TO CHARACTER SET utf8mb4, or restore the tables from the migrations")
        }
        guard schema?.characterSet == "utf8mb4" else {
            return .warn(
                "collation", "the schema's default is \(schema?.characterSet ?? "unknown")",
                "ALTER DATABASE \(connection.options.database ?? "") CHARACTER SET utf8mb4")
        }
        return .ok("collation", schema?.collation ?? "")
    }

    // MARK: Durability

    private func flush(_ server: Settings) -> Finding {
        server.flushLogAtCommit == 1
            ? .ok("durability", "every commit is on disk")
            : .fail(
                "durability",
                "innodb_flush_log_at_trx_commit is \(server.flushLogAtCommit): answered requests can be lost",
                "innodb_flush_log_at_trx_commit = 1 in the [mariadbd] section")
    }

    private func binaryLog(_ server: Settings) -> Finding {
        guard server.hasBinaryLog else {
            return .warn(
                "binary log", "off: a crash can take back events that relying parties have read",
                "log_bin = binlog and sync_binlog = 1 in the [mariadbd] section")
        }
        return server.syncBinaryLog == 1
            ? .ok("binary log", "on, written at every commit")
            : .fail(
                "binary log", "sync_binlog is \(server.syncBinaryLog): replicas can differ after a crash",
                "sync_binlog = 1 in the [mariadbd] section")
    }

    private func triggers(_ server: Settings) -> Finding? {
        guard server.hasBinaryLog, !server.trustsFunctionCreators else { return nil }
        return .warn(
            "triggers", "log_bin_trust_function_creators is off: migrations cannot create triggers (1419)",
            "SET GLOBAL log_bin_trust_function_creators = 1, or migrate with an account that has SUPER")
    }

    // MARK: Capacity

    private func connections(_ server: Settings) -> Finding {
        // While one instance replaces another, both are connected. Readiness has a connection of its own, and so have
        // notifications to phones, and tools.
        let needed = 2 * (threads + dispatchers + 2) + 10
        let message = "max_connections is \(server.maxConnections); two instances need up to \(needed)"
        return server.maxConnections >= needed
            ? .ok("connections", message)
            : .fail(
                "connections", message, "raise max_connections, or lower MERGANSER_THREADS, which is \(threads)")
    }

    private func preparedStatements(_ server: Settings) -> Finding {
        let needed = 2 * (threads + dispatchers + 1) * connection.options.statementCacheLimit
        let message = "max_prepared_stmt_count is \(server.maxPreparedStatements); two instances keep up to \(needed)"
        return server.maxPreparedStatements >= needed
            ? .ok("prepared statements", message)
            : .warn(
                "prepared statements", message,
                "raise max_prepared_stmt_count, or lower MERGANSER_THREADS, which is \(threads)")
    }

    private func waitTimeout(_ server: Settings) -> Finding {
        server.waitTimeout >= 60
            ? .ok("wait_timeout", "\(server.waitTimeout) s")
            : .warn(
                "wait_timeout", "\(server.waitTimeout) s: idle workers must reconnect all the time",
                "wait_timeout = 600 or more in the [mariadbd] section")
    }
}
