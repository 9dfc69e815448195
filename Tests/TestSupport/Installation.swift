import Foundation
import IdentityTokens
import MariaDB

/// An installation as an operator makes it: a schema, keys, folders, and the environment of both programs.
package final class Installation: Sendable {
    package let database: TestDatabase
    package let directory: TemporaryDirectory
    package let issuer: TestIssuer
    package let keySets: LocalHTTPServer
    package let environment: [String: String]

    /// - Parameters:
    ///   - migrated: whether the schema has its tables.
    ///   - variables: replace those of a sound installation; an empty value unsets one.
    package init(database: TestDatabase? = nil, migrated: Bool = true, _ variables: [String: String] = [:]) throws {
        self.database = try database ?? TestDatabase(migrated: migrated)
        directory = try TemporaryDirectory()
        issuer = TestIssuer(.apple)
        keySets = try issuer.serve()
        guard case .unixSocket(let socket) = self.database.options.address else {
            throw TestSupportError("the tests' database is not on a unix socket")
        }
        environment = [
            "MERGANSER_ENVIRONMENT": "development",
            "MERGANSER_ISSUER": "http://127.0.0.1:8080",
            "MERGANSER_SERVER_KEY": String(repeating: "c4", count: 32),
            "MERGANSER_APPLE_AUDIENCES": issuer.audience,
            "MERGANSER_APPLE_JWKS_URL": "\(keySets.url)/keys",
            "MERGANSER_DATABASE_SOCKET": socket,
            "MERGANSER_DATABASE_USER": self.database.options.user,
            "MERGANSER_DATABASE_NAME": self.database.name,
            "MERGANSER_SOCKET": directory.file("fastcgi.sock"),
            "MERGANSER_CONTROL_SOCKET": directory.file("control.sock"),
            "MERGANSER_STATE_DIRECTORY": directory.file("state"),
            "MERGANSER_SQL_DIRECTORY": TestDatabase.sqlDirectory,
            "MERGANSER_DEV_KEYS_DIRECTORY": directory.file("keys"),
            "MERGANSER_OTP_SENDER": "spool:" + directory.file("mail"),
            "MERGANSER_PUSH_SENDER": "spool:" + directory.file("push"),
            "MERGANSER_ATTACHMENT_DIR": directory.file("attachments"),
            "MERGANSER_ATTACHMENT_SECRET": String(repeating: "a7", count: 32),
            "MERGANSER_THREADS": "4",
            // No request comes too late, however busy the machine is.
            "MERGANSER_QUEUE_LIMIT_MILLISECONDS": "0",
        ].merging(variables) { $1 }
        try FileManager.default.createDirectory(
            atPath: directory.file("state"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }

    /// Runs `merganserctl` to its end.
    package func tool(_ arguments: String..., setting variables: [String: String] = [:]) throws -> ChildProcess.Outcome
    {
        try tool(arguments, setting: variables)
    }

    package func tool(_ arguments: [String], setting variables: [String: String] = [:]) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            Repository.program("merganserctl"), arguments, environment: environment.merging(variables) { $1 })
    }

    /// Starts `merganserd`.
    package func server(
        _ arguments: [String] = [], setting variables: [String: String] = [:], socket: Int32? = nil, input: Int32? = nil
    ) throws -> ChildProcess {
        try ChildProcess(
            Repository.program("merganserd"), arguments, environment: environment.merging(variables) { $1 },
            input: input, socket: socket)
    }
}
