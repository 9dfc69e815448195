import API
import Accounts
import Database
import Fetch
import HTTP
import MariaDB
import TestSupport
import Testing
import Time

/// Applications with receivers on this machine, and a dispatcher whose time is the app's clock.
final class DeliveryScene {
    /// An application and what receives its events.
    struct Receiver: Sendable {
        let server: LocalHTTPServer
        let id: Int
        let clientID: String
        let key: WebhookKey

        /// The ids of the events that came, in order.
        var events: [String] { server.requests.compactMap { $0.header("x-logi-event-id") } }
    }

    let app: TestApp
    let statistics = DeliveryStatistics()
    private var made = 0

    init() throws {
        app = try TestApp(
            settings: AccountsSettings(
                issuer: TestApp.issuer, autoApprovesApplications: true, isDevelopment: true))
    }

    func options(_ change: (inout Dispatcher.Options) -> Void = { _ in }) -> Dispatcher.Options {
        var options = Dispatcher.Options(isDevelopment: true)
        options.time = { [time = app.time] _ in time.now }
        change(&options)
        return options
    }

    func dispatcher(_ change: (inout Dispatcher.Options) -> Void = { _ in }) throws -> Dispatcher {
        try Dispatcher(
            app.service.accounts, Database(app.database.options), options(change), statistics: statistics)
    }

    /// Sends what is due, until nothing is.
    @discardableResult
    func dispatch(_ change: (inout Dispatcher.Options) -> Void = { _ in }) throws -> Int {
        try dispatcher(change).runOnce()
    }

    // MARK: Receivers

    func receiver(
        answering respond: @escaping @Sendable (LocalHTTPServer.Request) -> LocalHTTPServer.Reply = { _ in .response() }
    ) throws -> Receiver {
        let server = try LocalHTTPServer(respond)
        let registration = try register(url: "\(server.url)/hook")
        return Receiver(
            server: server, id: Int(registration.application.id.rawValue),
            clientID: registration.application.clientID, key: registration.webhookKey)
    }

    func receiver(status: Int, headers: [(String, String)] = []) throws -> Receiver {
        try receiver { _ in .response(status: status, headers: headers) }
    }

    func register(url: String) throws -> Registration {
        var changes = ApplicationChanges()
        changes.name = "Receiver"
        changes.redirectURIs = ["com.example.receiver://callback"]
        changes.webhookURL = .some(url)
        let accounts = app.service.accounts
        let approved = try ApprovedChanges(changes, by: accounts.settings.applicationRules)
        return try Accounts.write(
            Database(app.database.options), at: app.time.clock, from: Origin(requestID: "test", address: "")
        ) { try $0.createApplication(approved, .confidential, clientID: nil, serverKey: accounts.serverKey) }
    }

    // MARK: Events

    /// An event that is due now.
    @discardableResult
    func event(for application: Int, _ type: String = "consent.revoked") throws -> String {
        made += 1
        let number = String(made)
        // 01KRDFRGC0: 2026-05-12T07:00:00Z.
        let id = "evt_01KRDFRGC0" + String(repeating: "0", count: 16 - number.count) + number
        let db = try app.database.connect()
        try db.execute(
            "INSERT IGNORE INTO application_event_counters (application_id) VALUES (?)", application)
        try db.execute(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, next_attempt_at)
            VALUES (?, ?, ?, ?, ?)
            """, application, id, type, Self.payload(id), app.time.now)
        return id
    }

    @discardableResult
    func event(for receiver: Receiver) throws -> String { try event(for: receiver.id) }

    static func payload(_ id: String) -> [UInt8] { Array(#"{"event_id":"\#(id)","é":1}"#.utf8) }

    struct OutboxRow: Equatable {
        var attempts: Int
        var next: Timestamp?
        var isDelivered = false
        var isDead = false
        var reason: String?
    }

    func row(_ eventID: String) throws -> OutboxRow {
        let row = try app.database.connect().first(
            """
            SELECT attempts, next_attempt_at, delivered_at IS NOT NULL, dlq_at IS NOT NULL, failure_reason
            FROM webhook_outbox WHERE event_id = ?
            """, eventID
        ) { row in
            OutboxRow(
                attempts: try row.read(), next: try row.read(), isDelivered: try row.read(), isDead: try row.read(),
                reason: try row.read())
        }
        return try #require(row)
    }

    /// `attempt status reason` of each attempt, oldest first.
    func attempts(_ receiver: Int) throws -> [String] {
        try app.database.connect().all(
            """
            SELECT CONCAT_WS(' ', attempt, COALESCE(status, '-'), COALESCE(failure_reason, '-'))
            FROM webhook_attempts WHERE application_id = ? ORDER BY id
            """, receiver
        ) { row in try row.read() }
    }

    func isDisabled(_ receiver: Receiver) throws -> Bool {
        try app.count(
            "SELECT COUNT(*) FROM applications WHERE id = ? AND webhook_disabled_at IS NOT NULL", receiver.id) == 1
    }
}
