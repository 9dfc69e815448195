package import Accounts
package import Analytics
package import IdentityTokens
package import Logging
package import Mail
package import Pages
package import Push

/// The settings that `merganserd` and `merganserctl` read from their environment, checked.
///
/// This target owns the environment variables: their names, forms, defaults and error messages. It does not own what
/// the values mean, and it opens no files except those that hold secrets or the brand's logo.
package struct Configuration: Sendable {
    package var deployment: Deployment
    /// Seals and signs. `previousServerKey` only opens values that were sealed before the last rotation.
    package var serverKey: KeyMaterial
    package var previousServerKey: KeyMaterial?
    /// The providers that have an audience; never empty.
    package var providers: [Provider: ProviderSettings]
    /// nil: Apple's authorization codes are ignored, and its tokens are not revoked.
    package var apple: AppleClientSettings?
    /// nil: PAKs live until they are revoked.
    package var pakLifetime: Duration?
    package var loginHistoryLifetime: Duration
    package var linkByEmail: LinkByEmail
    package var autoApprovesApplications: Bool
    package var allowsBearerOnlyAgents: Bool
    package var restoresWithinGrace: Bool
    /// After which a timer prunes anonymous accounts; nil: never.
    package var anonymousInactivity: Duration?
    /// How long a merge or swap can be taken back; nil: no journal is kept.
    package var undoWindow: Duration?
    /// The page that explains the OAuth error codes; the fragment of an `error_uri` is the error's code.
    package var errorDocsBase: String
    /// nil: no mail is sent.
    package var mail: MailSettings?
    package var brand: Brand
    /// Whether the login page offers a code to scan with the app.
    package var offersCodes: Bool
    /// nil: no phone is notified, and nobody approves there.
    package var push: PushSettings?
    package var ownApps: OwnAppSettings
    package var analytics: AnalyticsSettings
    package var front: FrontSettings
    package var database: DatabaseSettings
    package var server: ServerSettings
}

/// The values of a variable that switches a feature on or off.
private enum Switch: String, CaseIterable {
    case on, off
}

/// How one instance of `merganserd` runs.
package struct ServerSettings: Sendable {
    /// Names the instance in logs and metrics: `blue`, `green`.
    package var instance: String
    /// The path that nginx connects to, unless the process inherits a listening socket.
    package var socket: String
    package var socketGroup: String?
    package var controlSocket: String
    package var threads: Int
    /// Threads that send webhooks.
    package var dispatchers: Int
    package var drainLimit: Duration
    /// How long a request may wait for a worker before it is refused; nil: there is no limit.
    package var queueLimit: Duration?
    /// Statements and transactions that take this long are logged; nil: none are logged.
    package var slowStatement: Duration?
    /// The folder that keeps the last good key sets across restarts.
    package var stateDirectory: String
    package var logLevel: Logger.Level
}

extension Configuration {
    /// - Parameter environment: the process's environment; names that do not begin with `MERGANSER_` are ignored.
    /// - Throws: an error that lists every problem.
    package static func load(environment: [String: String]) throws(ConfigurationError) -> Configuration {
        try VariableReader.load(environment, Configuration.init)
    }

    /// That variable alone.
    package static func loginHistoryLifetime(environment: [String: String]) throws(ConfigurationError) -> Duration {
        try VariableReader.load(environment) { $0.integer(.loginHistoryDays, in: 1...3650).map(Duration.days) }
    }

    /// That variable alone.
    package static func anonymousInactivity(environment: [String: String]) throws(ConfigurationError) -> Duration? {
        try VariableReader.load(environment, anonymousInactiveDays).map(Duration.days)
    }

    /// - Returns: the days, or none; nil if the variable is wrong.
    private static func anonymousInactiveDays(_ variables: VariableReader) -> Int?? {
        variables.optionalDays(.anonymousInactiveDays)
    }

    /// That variable alone.
    package static func undoWindow(environment: [String: String]) throws(ConfigurationError) -> Duration? {
        try VariableReader.load(environment, undoDays).map(Duration.days)
    }

    /// - Returns: the days, or none; nil if the variable is wrong.
    private static func undoDays(_ variables: VariableReader) -> Int?? { variables.optionalDays(.undoDays) }

    /// `serverKey` and `previousServerKey` alone.
    package static func serverKey(environment: [String: String]) throws(ConfigurationError) -> ServerKey {
        try VariableReader.load(environment) { variables in
            serverKeys(variables).map { ServerKey(current: $0.current.bytes, previous: $0.previous?.bytes) }
        }
    }

    private static func serverKeys(_ variables: VariableReader) -> (current: KeyMaterial, previous: KeyMaterial?)? {
        let previous = variables.optional(.serverKeyPrevious, KeyMaterial.init(text:))
        guard let current = variables.value(.serverKey, KeyMaterial.init(text:)) else { return nil }
        if current == previous {
            variables.report(.serverKeyPrevious, "is the same key as MERGANSER_SERVER_KEY; unset it or set the old key")
        }
        return (current, previous)
    }

    init?(_ variables: VariableReader) {
        let deployment = Deployment(variables)
        let serverKeys = Self.serverKeys(variables)
        let providers = deployment.flatMap { ProviderSettings.all(variables, $0.environment) }
        let apple = deployment.map { AppleClientSettings.read(variables, $0.environment) }
        let pakDays = variables.integer(.pakTTLDays, in: 0...3650)
        let historyDays = variables.integer(.loginHistoryDays, in: 1...3650)
        let linkByEmail = variables.choice(.linkByEmail, LinkByEmail.self)
        let autoApprove = variables.choice(.autoApproveApplications, Switch.self)
        let bearerOnly = variables.choice(.agentsBearerOnly, Switch.self)
        let restore = variables.choice(.restoreWithinGrace, Switch.self)
        let inactiveDays = Self.anonymousInactiveDays(variables)
        let undoDays = Self.undoDays(variables)
        let errorDocsBase = variables.optional(.errorDocsBase) { text throws(InvalidValue) in
            guard WebURL(text) != nil else {
                throw InvalidValue("is \(quoted(text)); set a URL without fragment, such as https://example.com/errors")
            }
            return text
        }
        let mail = MailSettings.read(variables, deployment)
        let brand = Brand.read(variables)
        let qrSignIn = variables.choice(.qrSignIn, Switch.self)
        let push = PushSettings.read(variables, deployment)
        let ownApps = OwnAppSettings(variables)
        let analytics = AnalyticsSettings(variables, deployment)
        let front = FrontSettings(variables, deployment)
        let database = DatabaseSettings(variables)
        let server = ServerSettings(variables)
        guard let deployment, let serverKeys, let providers, let pakDays, let historyDays, let linkByEmail,
            let apple, let autoApprove, let bearerOnly, let restore, let inactiveDays, let undoDays, let brand,
            let qrSignIn, let ownApps, let analytics, let front, let database, let server
        else { return nil }
        self.init(
            deployment: deployment, serverKey: serverKeys.current, previousServerKey: serverKeys.previous,
            providers: providers, apple: apple,
            pakLifetime: pakDays == 0 ? nil : .days(pakDays), loginHistoryLifetime: .days(historyDays),
            linkByEmail: linkByEmail, autoApprovesApplications: autoApprove == .on,
            allowsBearerOnlyAgents: bearerOnly == .on,
            restoresWithinGrace: restore == .on, anonymousInactivity: inactiveDays.map(Duration.days),
            undoWindow: undoDays.map(Duration.days),
            errorDocsBase: errorDocsBase ?? "\(deployment.issuer)/oauth/errors", mail: mail,
            brand: brand, offersCodes: qrSignIn == .on, push: push, ownApps: ownApps, analytics: analytics,
            front: front, database: database, server: server)
    }
}

extension ServerSettings {
    init?(_ variables: VariableReader) {
        let instance = variables.value(.instance) { text throws(InvalidValue) in
            guard (1...32).contains(text.utf8.count), text.utf8.allSatisfy(isInstanceCharacter) else {
                throw InvalidValue("is \(quoted(text)); set 1 to 32 of a-z, 0-9 and -, such as blue")
            }
            return text
        }
        let socket = variables.value(.socket, socketPath)
        let socketGroup = variables.optional(.socketGroup) { text throws(InvalidValue) in text }
        let controlSocket = variables.optional(.controlSocket, socketPath)
        if let socket, socket == controlSocket {
            variables.report(.controlSocket, "is the same path as MERGANSER_SOCKET; set another one")
        }
        let threads = variables.optional(.threads) { text throws(InvalidValue) in try wholeNumber(text, in: 1...1024) }
        let dispatchers = variables.integer(.dispatchers, in: 0...16)
        let drainLimit = variables.integer(.drainLimit, in: 1...3600)
        let queueLimit = variables.integer(.queueLimit, in: 0...60_000)
        let slowStatement = variables.integer(.slowStatement, in: 0...60_000)
        let stateDirectory = variables.value(.stateDirectory, absolutePath)
        let logLevel = variables.choice(.logLevel, Logger.Level.self)
        guard let instance, let socket, let dispatchers, let drainLimit, let queueLimit, let slowStatement,
            let stateDirectory,
            let logLevel
        else {
            return nil
        }
        self.init(
            instance: instance, socket: socket, socketGroup: socketGroup,
            controlSocket: controlSocket ?? "/run/merganser/control-\(instance).sock",
            threads: threads ?? defaultThreads, dispatchers: dispatchers, drainLimit: .seconds(drainLimit),
            queueLimit: queueLimit > 0 ? .milliseconds(queueLimit) : nil,
            slowStatement: slowStatement > 0 ? .milliseconds(slowStatement) : nil, stateDirectory: stateDirectory,
            logLevel: logLevel)
    }
}

extension VariableReader {
    /// A number of days, of which 0 means none; nil if the variable is wrong.
    fileprivate func optionalDays(_ variable: Variable) -> Int?? {
        integer(variable, in: 0...3650).map { $0 == 0 ? nil : $0 }
    }
}

extension Duration {
    fileprivate static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
