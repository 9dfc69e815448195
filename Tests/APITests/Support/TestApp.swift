import API
import Accounts
import Analytics
import Database
import IdentityTokens
import JSON
import Logging
import Mail
import MariaDB
import Pages
import Push
import Synchronization
import TestSupport
import Testing
import Threads

/// The whole API on a migrated schema of its own: in process, unless a test comes through another doorway.
final class TestApp: Sendable {
    static let issuer = "https://id.example"

    let database: TestDatabase
    let service: Service
    /// The clock of server, verifier and issuers. It advances only if a test moves it.
    let time: TestClock
    let statistics = DatabaseStatistics()
    let log = RecordedLog()
    /// Where its clients send their requests; nil: the responder is called in process.
    private let server: SharedServer?
    /// What the test's numbers begin at, so that no other test on the same schema has the same.
    let firstNumber: Int
    /// Where attachments are stored, after `prepare`.
    let attachments: TemporaryDirectory
    /// Where mail goes.
    private let spool: TemporaryDirectory
    private let mail: MailQueue
    private let push: PushQueue
    private let issuers: [Provider: TestIssuer]
    private let options: Connection.Options

    /// - Parameters:
    ///   - analytics: changes the settings of the analytics surface.
    ///   - front: changes the settings for the proxy in front of the server.
    ///   - ownApps: the server's own apps.
    ///   - brand: what pages and mails show.
    ///   - workers: the number of threads that the server assumes it has.
    ///   - options: how to reach the database, if not directly.
    ///   - appleClient: with what the server acts as Apple's client, if it does.
    ///   - sendsMail: whether the server has a mail sender.
    ///   - notifiesPhones: whether the server has a sender of notifications.
    ///   - offersCodes: whether the login page offers a code to scan.
    ///   - publishingKeys: whether the verifier has the issuers' keys.
    ///   - serverKey: the key that seals stored values.
    ///   - time: the clock of another app, if both are processes of one installation.
    ///   - server: where requests are sent, with that server's database and issuer.
    init(
        settings: AccountsSettings = AccountsSettings(issuer: TestApp.issuer),
        analytics: (inout AnalyticsSettings) -> Void = { _ in },
        front: (inout API.Front) -> Void = { _ in },
        ownApps: OwnApps = OwnApps(), brand: Brand = .merganser, workers: Int = 64, database: TestDatabase? = nil,
        options: Connection.Options? = nil, appleClient: AppleClientSettings? = nil, sendsMail: Bool = true,
        notifiesPhones: Bool = true, offersCodes: Bool = true, publishingKeys: Bool = true,
        serverKey: ServerKey = ServerKey(current: TestApp.serverKeyBytes), time: TestClock = TestClock(),
        server: SharedServer? = nil
    ) throws {
        self.time = time
        self.server = server
        firstNumber = server?.takeNumbers() ?? 0
        let database = try database ?? TestDatabase()
        self.database = database
        self.options = options ?? database.options.unhurried
        attachments = try TemporaryDirectory()
        var analyticsSettings = AnalyticsSettings(
            attachments: AttachmentSettings(directory: attachments.path, secret: Array(repeating: 9, count: 32)))
        analytics(&analyticsSettings)
        var frontSettings = API.Front(publicURL: "https://id.example", sendsDownloads: false)
        front(&frontSettings)
        let (apple, google) = (TestIssuer(.apple, clock: time.clock), TestIssuer(.google, clock: time.clock))
        issuers = [.apple: apple, .google: google]
        let verifier =
            publishingKeys
            ? TestIssuer.verifier(apple, google, clock: time.clock)
            : IdentityTokenVerifier(
                providers: issuers.mapValues { $0.settings() }, cacheDirectory: nil, clock: time.clock)
        spool = try TemporaryDirectory()
        let sender = MailSettings(
            sender: .spool(folder: spool.path), from: try #require(MailAddress("id@mail.example")))
        mail = MailQueue(sender, clock: time.clock) { [log] outcome, reason in
            log.logger.warning("mail was not sent", metadata: ["outcome": "\(outcome)", "reason": "\(reason)"])
        }
        let accounts = Accounts(
            settings: settings, serverKey: serverKey, identityTokens: verifier,
            apple: appleClient.map { AppleClient($0, clock: time.clock) }, clock: time.clock)
        push = PushQueue(.spool(folder: spool.path), clock: time.clock) {
            PushTokenDirectory(accounts) { Database(database.options) }
        } onLoss: { [log] outcome, reason in
            log.logger.warning(
                "a phone was not notified", metadata: ["outcome": "\(outcome)", "reason": "\(reason)"])
        }
        service = Service(
            accounts: accounts,
            analytics: Analytics(settings: analyticsSettings, clock: time.clock), front: frontSettings,
            errorDocsBase: "https://id.example/oauth/errors", ownApps: ownApps, brand: brand,
            mail: sendsMail ? mail : nil, push: notifiesPhones ? push : nil, offersCodes: offersCodes,
            slowPeers: SlowPeerGate(workers: workers), loadShedder: LoadShedder(limit: .seconds(1)),
            logger: log.logger)
    }

    deinit {
        mail.stop(atMost: .zero)
        push.stop(atMost: .zero)
    }

    static let serverKeyBytes = [UInt8](repeating: 7, count: 32)

    /// All mail so far, as the spool has it.
    func mails() throws -> [JSONValue] {
        mail.start()
        try #require(mail.waitUntilEmpty(atMost: .seconds(60)))
        return try spool.text(MailSettings.spoolFile).split(separator: "\n").map { try JSONValue(json: Array($0.utf8)) }
    }

    /// All notifications so far, as the spool has them.
    func notifications() throws -> [JSONValue] {
        push.start()
        try #require(push.waitUntilEmpty(atMost: .seconds(60)))
        return try spool.text(PushSettings.spoolFile).split(separator: "\n").map { try JSONValue(json: Array($0.utf8)) }
    }

    /// A client with its own connection, like a worker thread. Only one thread may use it.
    ///
    /// - Parameter node: of a cluster, to which it is connected.
    func client(ofNode node: Int = 0) -> Client {
        if let server { return Client { server.respond(to: $0) } }
        var options = options
        if options.address == database.options.address { options.address = database.options(ofNode: node).address }
        return Client(Responder(service: service, database: Database(options, statistics: statistics)))
    }

    /// Whether no other test has the schema.
    var isAlone: Bool { server == nil }

    /// A person's name or address as no other test on the same schema has it.
    func own(_ name: String) -> String { isAlone ? name : "\(firstNumber)-\(name)" }

    /// Base URL of the server.
    var publicURL: String { service.accounts.settings.issuer }

    /// Mints the provider's tokens.
    func issuer(_ provider: Provider) -> TestIssuer { issuers[provider] ?? TestIssuer(provider, clock: time.clock) }

    /// The database as tests look at it.
    func sql<T>(_ body: (Connection) throws -> T) throws -> T { try body(try database.connect()) }

    func count(_ sql: StaticString, _ arguments: any Bindable...) throws -> Int {
        try database.connect().first(sql, arguments: arguments) { row in try row.read(Int.self) } ?? 0
    }
}

/// All log lines of an app.
final class RecordedLog: Sendable {
    private let recorded = Mutex<[String]>([])

    var lines: [String] { recorded.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    private struct Handler: LogHandler {
        let log: RecordedLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
            log.recorded.withLock { $0.append("\(event.level) \(event.message) \(all)") }
        }
    }
}
