import Configuration
import FoundationEssentials
import MariaDB
import Migrations

/// MariaDB on this machine as its root sees it, or none, if it is on another one.
struct LocalDatabase {
    let isLocal: Bool

    init(_ settings: SettingsFile) { isLocal = settings["MERGANSER_DATABASE_HOST"] == nil }

    func connect() throws -> Connection {
        do {
            return try Connection(
                Connection.Options(address: .unixSocket("/run/mysqld/mysqld.sock"), user: "root").forMigrations)
        } catch {
            throw ToolError(
                .unavailable, "MariaDB does not answer root: \(error.message); install it, or name its --database-host")
        }
    }

    /// Whether there is a schema with tables on this machine.
    func hasTables() throws -> Bool {
        guard isLocal else { return false }
        return try !connect().query(
            "SELECT 1 FROM information_schema.tables WHERE table_schema = 'merganser' LIMIT 1"
        ).isEmpty
    }
}

/// The settings of MariaDB itself. Where it has other databases, they are left to their operator, and `doctor` says what
/// they lack.
struct DatabaseServerStep: SetupStep {
    let database: LocalDatabase
    let name = "MariaDB's settings"
    private let file = "/etc/mysql/mariadb.conf.d/60-merganser.cnf"

    func missing() throws -> [String] {
        guard database.isLocal else { return [] }
        let connection = try database.connect()
        let others = try connection.query(
            """
            SELECT schema_name FROM information_schema.schemata
            WHERE schema_name NOT IN ('mysql', 'sys', 'information_schema', 'performance_schema', 'merganser', 'test')
            """)
        let isRight = try connection.query(
            """
            SELECT 1 WHERE @@log_bin AND @@sync_binlog = 1 AND @@innodb_flush_log_at_trx_commit = 1
                AND @@log_bin_trust_function_creators
            """)
        return isRight.isEmpty && others.isEmpty ? ["write \(file), and restart MariaDB"] : []
    }

    func mend() throws {
        let shipped = try String(contentsOfFile: "/usr/share/merganser/mariadb.cnf", encoding: .utf8)
        let before = try? String(contentsOfFile: file, encoding: .utf8)
        try shipped.write(toFile: file, atomically: true, encoding: .utf8)
        do { try Program.run("systemctl", "restart", "mariadb") } catch {
            if let before {
                try before.write(toFile: file, atomically: true, encoding: .utf8)
            } else {
                try FileManager.default.removeItem(atPath: file)
            }
            try Program.run("systemctl", "restart", "mariadb")
            var told = ToolError(.failed, "MariaDB does not start with \(file), and runs without it again")
            told.problems = ["\(error)"]
            throw told
        }
    }
}

/// The schema without tables, and the accounts of the programs.
struct DatabaseStep: SetupStep {
    let database: LocalDatabase
    let settings: SettingsFile
    let name = "database and accounts"
    private static let accounts = [("merganser_owner", "owner_password"), ("merganser", "database_password")]

    func missing() throws -> [String] {
        try Self.accounts.filter { try !answers($0.0, SettingsFolder.secret($0.1)) }.map {
            "create the account \($0.0) at MariaDB"
        }
    }

    func mend() throws {
        guard database.isLocal else {
            try SettingsFolder.write(try statements(at: "%"), to: "accounts.sql")
            throw ToolError(
                .refused,
                "MariaDB does not know the accounts yet: have its administrator run \(SettingsFolder.path)/accounts.sql, remove "
                    + "the file, and run setup again")
        }
        try database.connect().executeScript(try statements(at: "localhost"))
    }

    private func answers(_ user: String, _ password: String?) -> Bool {
        guard let password else { return false }
        var environment = settings.environment
        environment["MERGANSER_DATABASE_PASSWORD_FILE"] = nil
        environment["MERGANSER_DATABASE_USER"] = user
        environment["MERGANSER_DATABASE_PASSWORD"] = password
        return (try? Connection(DatabaseSettings.load(environment: environment).connection)) != nil
    }

    /// For new accounts, and on this machine for those whose password is another one. Accounts at another machine may have
    /// their passwords from a first machine, which goes on using them.
    private func statements(at host: String) throws -> String {
        let accounts = try Self.accounts.map { name, file in
            guard let password = try SettingsFolder.secret(file), password.utf8.allSatisfy({ $0 != 0x27 && $0 != 0x5C })
            else {
                throw ToolError(
                    .refused, "\(SettingsFolder.path)/\(file) has a quote or a backslash, which no password of ours has"
                )
            }
            if !database.isLocal {
                return "CREATE USER \(name)@'\(host)' IDENTIFIED BY '\(password)' REQUIRE SSL;\n"
            }
            return """
                CREATE USER IF NOT EXISTS \(name)@'\(host)';
                ALTER USER \(name)@'\(host)' IDENTIFIED BY '\(password)';

                """
        }
        return """
            CREATE DATABASE IF NOT EXISTS merganser CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
            \(accounts.joined())
            GRANT ALL PRIVILEGES ON merganser.* TO merganser_owner@'\(host)';
            GRANT SELECT, INSERT, UPDATE, DELETE ON merganser.* TO merganser@'\(host)';

            """
    }
}
