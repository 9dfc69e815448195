import API
import Accounts
import Database
import HTTP
import IdentityTokens
import JSON
import Logging
import MariaDB
import Synchronization
import TestSupport
import Time

/// The whole API in process on a migrated schema of its own.
final class TestApp: Sendable {
    let database: TestDatabase
    let service: Service
    let time: SettableTime
    let statistics = DatabaseStatistics()
    let log = RecordedLog()
    private let options: Connection.Options

    /// - Parameter options: how to reach the database, when not directly.
    init(
        settings: AccountsSettings = AccountsSettings(), database: TestDatabase? = nil,
        options: Connection.Options? = nil
    ) throws {
        let database = try database ?? TestDatabase()
        self.database = database
        self.options = options ?? database.options
        let time = SettableTime()
        self.time = time
        service = Service(
            accounts: Accounts(
                settings: settings, serverKey: ServerKey(current: Array(repeating: 7, count: 32)),
                identityTokens: try Issuers.shared.get().verifier(clock: time.clock), clock: time.clock),
            errorDocsBase: "https://id.example/oauth/errors", logger: log.logger)
    }

    /// A client with a worker thread's connection of its own; to be used by one thread.
    func client() -> Client {
        Client(Responder(service: service, database: Database(options, statistics: statistics)))
    }

    /// The database as tests look at it.
    func sql<T>(_ body: (Connection) throws -> T) throws -> T { try body(try database.connect()) }

    func count(_ sql: StaticString, _ arguments: (any Bindable)?...) throws -> Int {
        try database.connect().first(sql, arguments: arguments) { row in try row.read(Int.self) } ?? 0
    }
}

/// A clock that stands where a test puts it; at first the system's time, cut to whole seconds.
final class SettableTime: Sendable {
    private let value = Mutex(Timestamp(seconds: Clock.system.now.seconds))

    var clock: Clock { Clock { self.now } }
    var now: Timestamp { value.withLock { $0 } }

    func advance(by duration: Duration) { value.withLock { $0 = $0 + duration } }
}

/// Every log line of an app, for looking at.
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
