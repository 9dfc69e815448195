import Configuration
import Files
import FoundationEssentials
import MariaDB
import Migrations
import Time

/// MariaDB as this machine's settings name it: on this machine, where root can do everything, or on another one.
struct SetupDatabase {
    let isLocal: Bool
    /// Whether it is reached through a proxy on this machine, such as HAProxy, without TLS.
    let isBehindProxy: Bool
    private let settings: SettingsFile
    private static let socket = "/run/mysqld/mysqld.sock"

    /// - Throws: if the settings name what only a set-up by hand can have.
    init(_ settings: SettingsFile) throws {
        self.settings = settings
        for (name, value) in [("NAME", "merganser"), ("USER", "merganser"), ("SOCKET", Self.socket)] {
            let name = "MERGANSER_DATABASE_\(name)"
            guard let other = settings[name], !other.isEmpty, other != value else { continue }
            throw ToolError(
                .refused,
                "\(name) is \(other), but setup knows only \(value); remove that line from \(SettingsFolder.path)/"
                    + "\(SettingsFile.name), or set the machine up by hand, as docs/deployment.md tells")
        }
        // An empty value counts as not set.
        let host = settings["MERGANSER_DATABASE_HOST"] ?? ""
        isLocal = host.isEmpty
        isBehindProxy =
            Connection.Options.Address.tcp(host: host, port: 0).isThisMachine
            && (settings["MERGANSER_DATABASE_CA_FILE"] ?? "").isEmpty
    }

    /// As root, on this machine.
    func connect() throws -> Connection {
        do {
            return try Connection(
                Connection.Options(address: .unixSocket(Self.socket), user: "root").forMigrations)
        } catch {
            throw ToolError(
                .unavailable, "MariaDB does not answer root: \(error.message); install it, or name its --database-host")
        }
    }

    /// As one of the accounts of the programs, wherever MariaDB is.
    ///
    /// - Returns: nil if MariaDB does not know the account, with this password and for this machine, or its database.
    func connect(as user: String, password: String) throws -> Connection? {
        var environment = settings.environment
        environment["MERGANSER_DATABASE_PASSWORD_FILE"] = nil
        environment["MERGANSER_DATABASE_USER"] = user
        environment["MERGANSER_DATABASE_PASSWORD"] = password
        let options = try DatabaseSettings.load(environment: environment).connection
        do { return try Connection(options) } catch let error where [1044, 1045, 1049, 1130, 1698].contains(error.code)
        {
            return nil
        } catch {
            throw ToolError(.unavailable, "MariaDB cannot be asked for the account \(user): \(error.message)")
        }
    }

    /// Whether the schema has tables. One on another machine can only be asked if the server's password is here.
    func hasTables() throws -> Bool {
        var connection: Connection?
        if isLocal {
            connection = try connect()
        } else if let password = try SettingsFolder.secret("database_password") {
            connection = try connect(as: "merganser", password: password)
        }
        return try connection.map {
            try !$0.query("SELECT 1 FROM information_schema.tables WHERE table_schema = 'merganser' LIMIT 1").isEmpty
        } ?? false
    }
}

/// The settings of MariaDB itself, written once. Where it has other databases, or another file overrides ours, they are left to
/// their operator, and `doctor` says what they lack.
struct DatabaseServerStep: SetupStep {
    let database: SetupDatabase
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
        guard isRight.isEmpty, others.isEmpty else { return [] }
        guard let written = try Folder.modificationTime(of: file) else { return ["write \(file), and restart MariaDB"] }
        // An earlier run may have ended before it restarted MariaDB.
        let isOlder = try connection.query(
            """
            SELECT 1 FROM information_schema.global_status WHERE variable_name = 'UPTIME'
                AND UNIX_TIMESTAMP() - variable_value < \(written.milliseconds / 1000)
            """)
        return isOlder.isEmpty ? [] : ["restart MariaDB"]
    }

    func mend() throws {
        let isNew = try Folder.modificationTime(of: file) == nil
        if isNew {
            let shipped = try String(contentsOfFile: "/usr/share/merganser/mariadb.cnf", encoding: .utf8)
            try shipped.write(toFile: file, atomically: true, encoding: .utf8)
        }
        do { try Program.run("systemctl", "restart", "mariadb") } catch {
            // What somebody has changed is theirs to mend.
            guard isNew else { throw error }
            try FileManager.default.removeItem(atPath: file)
            try Program.run("systemctl", "restart", "mariadb")
            var told = ToolError(.failed, "MariaDB does not start with \(file), and runs without it again")
            told.problems = ["\(error)"]
            throw told
        }
    }
}

/// The schema without tables, and the accounts of the programs.
struct DatabaseStep: SetupStep {
    let database: SetupDatabase
    let name = "database and accounts"

    private struct Account {
        let name: String
        /// The file of its password.
        let file: String
        let privileges: String
    }
    private static let accounts = [
        Account(name: "merganser_owner", file: "owner_password", privileges: "ALL PRIVILEGES"),
        Account(name: "merganser", file: "database_password", privileges: "SELECT, INSERT, UPDATE, DELETE"),
    ]

    private func absent() throws -> [Account] {
        try Self.accounts.filter { account in
            guard let password = try SettingsFolder.secret(account.file) else { return true }
            return try database.connect(as: account.name, password: password) == nil
        }
    }

    func missing() throws -> [String] { try absent().map { "create the account \($0.name) at MariaDB" } }

    func mend() throws {
        let absent = try absent()
        guard database.isLocal else {
            try SettingsFolder.write(try statements(for: absent, at: "%"), to: "accounts.sql")
            throw ToolError(
                .refused,
                "MariaDB does not know the accounts yet: have its administrator run \(SettingsFolder.path)/accounts.sql, remove "
                    + "the file, and run setup again")
        }
        try database.connect().executeScript(try statements(for: absent, at: "localhost"))
        // Its connections stay, but it would make no other one.
        if absent.contains(where: { $0.name == "merganser" }), let color = Color.allCases.first(where: \.isRunning) {
            throw ToolError(
                .refused,
                "\(color.rawValue) still has another password than MariaDB: run merganserctl release --restart now, and then "
                    + "setup again")
        }
    }

    private func statements(for accounts: [Account], at host: String) throws -> String {
        let accounts = try accounts.map { account in
            guard let password = try SettingsFolder.secret(account.file),
                password.utf8.allSatisfy({ $0 != 0x27 && $0 != 0x5C })
            else {
                throw ToolError(
                    .refused,
                    "\(SettingsFolder.path)/\(account.file) has a quote or a backslash, which no password of ours has")
            }
            let name = "\(account.name)@'\(host)'"
            return creation(of: name, password: password) + "GRANT \(account.privileges) ON merganser.* TO \(name);\n"
        }
        return "CREATE DATABASE IF NOT EXISTS merganser CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;\n"
            + accounts.joined()
    }

    /// The statements that make an account, or on this machine change its password. An account at another machine may have its
    /// password from a first machine, which goes on using it.
    func creation(of account: String, password: String) -> String {
        if database.isLocal {
            return "CREATE USER IF NOT EXISTS \(account);\nALTER USER \(account) IDENTIFIED BY '\(password)';\n"
        }
        return "CREATE USER \(account) IDENTIFIED BY '\(password)'\(database.isBehindProxy ? "" : " REQUIRE SSL");\n"
    }
}
