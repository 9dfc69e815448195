package import MariaDB

/// How to reach MariaDB, and where its migrations are.
package struct DatabaseSettings: Sendable {
    package var connection: Connection.Options
    package var sqlDirectory: String
}

extension DatabaseSettings {
    /// Reads only the variables of the database: `merganserctl` needs no others to work on tables.
    package static func load(environment: [String: String]) throws(ConfigurationError) -> DatabaseSettings {
        try VariableReader.load(environment, DatabaseSettings.init)
    }

    init?(_ variables: VariableReader) {
        let socket = variables.optional(.databaseSocket, absolutePath)
        let host = variables.optional(.databaseHost) { text throws(InvalidValue) in text }
        let port = variables.integer(.databasePort, in: 1...65_535)
        let user = variables.value(.databaseUser) { text throws(InvalidValue) in text }
        let password = variables.optional(.databasePassword) { text throws(InvalidValue) in text }
        let name = variables.value(.databaseName) { text throws(InvalidValue) in text }
        let caFile = variables.optional(.databaseCAFile, absolutePath)
        let sqlDirectory = variables.value(.sqlDirectory, absolutePath)

        if let host {
            if variables.isSet(.databaseSocket) {
                variables.report(.databaseHost, "and MERGANSER_DATABASE_SOCKET are both set; unset one of them")
            }
            let isThisMachine = Connection.Options.Address.tcp(host: host, port: port ?? 0).isThisMachine
            if !isThisMachine, !variables.isSet(.databaseCAFile) {
                variables.report(
                    .databaseCAFile,
                    "is not set; for the remote host \(quoted(host)) set the path of its CA certificates")
            }
        } else {
            for variable in [Variable.databasePort, .databaseCAFile] where variables.isSet(variable) {
                variables.report(variable, "is only for MERGANSER_DATABASE_HOST; unset it, or set the host")
            }
        }
        guard let port, let user, let name, let sqlDirectory else { return nil }
        self.init(
            connection: Connection.Options(
                address: host.map { .tcp(host: $0, port: port) } ?? .unixSocket(socket ?? "/run/mysqld/mysqld.sock"),
                user: user, password: password, database: name, tls: caFile.map { .init(authorityFile: $0) }),
            sqlDirectory: sqlDirectory)
    }
}
