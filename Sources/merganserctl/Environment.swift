import Accounts
import Configuration
import Database
import FoundationEssentials
import IdentityTokens
import MariaDB

/// What commands read from the process's environment. Each command loads only what it needs.
enum Environment {
    private static var variables: [String: String] { ProcessInfo.processInfo.environment }

    static var warnings: [String] { Configuration.warnings(environment: variables) }

    static func configuration() throws -> Configuration { try Configuration.load(environment: variables) }

    static func databaseSettings() throws -> DatabaseSettings { try DatabaseSettings.load(environment: variables) }

    static func deployment() throws -> Deployment { try Deployment.load(environment: variables) }

    static func serverKey() throws -> ServerKey { try Configuration.serverKey(environment: variables) }

    static func loginHistoryLifetime() throws -> Duration {
        try Configuration.loginHistoryLifetime(environment: variables)
    }

    /// Nil: anonymous accounts are kept.
    static func anonymousInactivity() throws -> Duration? {
        try Configuration.anonymousInactivity(environment: variables)
    }

    /// Nil: merges and swaps keep no journal.
    static func undoWindow() throws -> Duration? { try Configuration.undoWindow(environment: variables) }

    static func tombstoneGrace() throws -> Duration { try Configuration.tombstoneGrace(environment: variables) }

    /// What sends webhooks. It verifies no identity tokens.
    static func accounts() throws -> Accounts {
        let deployment = try deployment()
        return Accounts(
            settings: AccountsSettings(
                issuer: deployment.issuer.description, undoWindow: try undoWindow(),
                isDevelopment: deployment.environment == .development),
            serverKey: try serverKey(), identityTokens: IdentityTokenVerifier(providers: [:], cacheDirectory: nil),
            apple: try Configuration.appleClient(environment: variables).map { AppleClient($0) })
    }

    static func attachmentDirectory() throws -> String {
        try Configuration.attachmentDirectory(environment: variables)
    }

    static func database() throws -> Database { Database(try databaseSettings().connection) }

    static func developmentIssuer() throws -> DevelopmentIssuer {
        try requireDevelopment()
        guard let directory = try deployment().developmentKeysDirectory else {
            throw ToolError(
                .configuration,
                "MERGANSER_DEV_KEYS_DIRECTORY is not set; set it to the folder of the development issuer's keys")
        }
        return DevelopmentIssuer(directory: URL(filePath: directory))
    }

    /// - Throws: unless this is a development installation.
    static func requireDevelopment() throws {
        guard try deployment().environment == .development else {
            throw ToolError(
                .refused,
                "this command works only with MERGANSER_ENVIRONMENT=development, but this is a production installation")
        }
    }
}

extension Origin {
    /// Of what a command changes: the operator's doing, whatever machine it is done on.
    static let command = Origin(requestID: "merganserctl", address: "")
}
