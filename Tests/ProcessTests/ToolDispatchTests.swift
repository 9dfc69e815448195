import Foundation
import Glibc
import JSON
import MariaDB
import Synchronization
import TestSupport
import Testing

/// Webhooks and logout tokens as processes send them: the server's own dispatcher, and `merganserctl dispatch`.
@Suite struct ToolDispatchTests {
    private let installation: Installation
    private let db: Connection
    private let isAnswering: IsAnswering
    private let receiver: LocalHTTPServer
    private let application: Int

    init() throws {
        installation = try Installation()
        db = try installation.database.connect()
        let isAnswering = IsAnswering()
        self.isAnswering = isAnswering
        receiver = try LocalHTTPServer { _ in isAnswering.value.load(ordering: .acquiring) ? .response() : .silence }
        let created = try installation.tool(
            "application", "create", "--name", "Receiver", "--client-type", "confidential", "--redirect-uri",
            "https://rp.example/cb", "--webhook-url", "\(receiver.url)/hook", "--json")
        #expect(created.exit == .status(0), "\(created.errorOutput)")
        application = try #require(try db.first("SELECT id FROM applications") { row in try row.read(Int.self) })
    }

    private final class IsAnswering: Sendable {
        let value = Atomic(true)
    }

    private func event(_ number: Int) throws {
        try db.execute("INSERT IGNORE INTO application_event_counters (application_id) VALUES (?)", application)
        try db.execute(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, next_attempt_at)
            VALUES (?, CONCAT('evt_01KRDFRGC0', LPAD(?, 16, '0')), 'webhook.test', CONCAT('{"n":', ?, '}'), UTC_TIMESTAMP(3))
            """, application, number, number)
    }

    private func count(_ condition: StaticString) throws -> Int {
        var sql = ComposedSQL("SELECT COUNT(*) FROM webhook_outbox WHERE ")
        sql.append(condition)
        return try db.first(sql) { row in try row.read() } ?? 0
    }

    /// The same bytes again, by whoever comes next.
    @Test func anEventSurvivesTheDeathOfItsDispatcher() throws {
        isAnswering.value.store(false, ordering: .releasing)
        try event(1)
        let dispatcher = try ChildProcess(
            Repository.program("merganserctl"), ["dispatch"], environment: installation.environment)
        #expect(receiver.waitForRequests(1))
        dispatcher.kill()
        _ = try dispatcher.waitForExit()
        #expect(try count("attempts = 0 AND lease IS NOT NULL AND next_attempt_at > UTC_TIMESTAMP(3)") == 1)

        isAnswering.value.store(true, ordering: .releasing)
        #expect(try installation.tool("dispatch", "--once").exit == .status(0))
        #expect(receiver.requests.count == 1, "the lease stands")
        // A minute later.
        try db.execute("UPDATE webhook_outbox SET next_attempt_at = UTC_TIMESTAMP(3)")
        let outcome = try installation.tool("dispatch", "--once", "--json")
        #expect(try outcome.json()["attempts"]?["delivered"] == 1)
        let requests = receiver.requests
        #expect(requests.count == 2)
        #expect(requests[0].body == requests[1].body && requests[0].body == Array(#"{"n":1}"#.utf8))
        #expect(requests[0].header("webhook-id") == requests[1].header("webhook-id"))
        #expect(try count("delivered_at IS NOT NULL AND attempts = 1 AND lease IS NULL") == 1)
    }

    @Test func theDispatcherEndsWhenItIsAsked() throws {
        let dispatcher = try ChildProcess(
            Repository.program("merganserctl"), ["dispatch"], environment: installation.environment)
        try event(1)
        #expect(receiver.waitForRequests(1))
        dispatcher.terminate()
        #expect(try dispatcher.waitForExit() == .status(0))
        #expect(try count("delivered_at IS NOT NULL") == 1)
    }

    @Test func theServerSendsThemAndCounts() throws {
        let server = try installation.readyServer()
        for number in 1...5 { try event(number) }
        #expect(receiver.waitForRequests(5))
        try server.wait(for: "the outcomes") {
            let text = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
            let metrics = try Exposed(text)
            return metrics["merganser_webhook_attempts_total", "{outcome=\"delivered\"}"] == 5
                && metrics["merganser_webhook_delivery_seconds_count"] == 5
        }
        server.terminate()
        #expect(try server.waitForExit() == .status(0))
        #expect(try count("delivered_at IS NULL") == 0)
    }

    @Test func aServerWithoutDispatchersLeavesThem() throws {
        let server = try installation.readyServer(setting: ["MERGANSER_DISPATCHERS": "0"])
        try event(1)
        #expect(try installation.tool("dispatch", "--once").exit == .status(0))
        #expect(receiver.requests.count == 1)
        let text = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
        #expect(try Exposed(text)["merganser_webhook_attempts_total", "{outcome=\"delivered\"}"] == 0)
        server.terminate()
        #expect(try server.waitForExit() == .status(0))
    }

    // MARK: Logout tokens

    private func logout(_ count: Int) throws {
        for command in ["generate", "activate"] {
            #expect(try installation.tool("signing-key", command).exit == .status(0))
        }
        let url = "\(receiver.url)/logout"
        #expect(
            try installation.tool("application", "set", try clientID(), "--backchannel-logout-uri", url).exit
                == .status(0))
        for number in 0..<count {
            try db.execute(
                "INSERT INTO logout_tokens (application_id, sub, next_attempt_at) VALUES (?, ?, UTC_TIMESTAMP(3))",
                application, "\(number)")
        }
    }

    private func count(ofTokens condition: StaticString) throws -> Int {
        var sql = ComposedSQL("SELECT COUNT(*) FROM logout_tokens WHERE ")
        sql.append(condition)
        return try db.first(sql) { row in try row.read() } ?? 0
    }

    @Test func aLogoutTokenSurvivesTheDeathOfItsDispatcher() throws {
        isAnswering.value.store(false, ordering: .releasing)
        try logout(1)
        let dispatcher = try ChildProcess(
            Repository.program("merganserctl"), ["dispatch"], environment: installation.environment)
        #expect(receiver.waitForRequests(1))
        dispatcher.kill()
        _ = try dispatcher.waitForExit()
        #expect(try count(ofTokens: "attempts = 0 AND lease IS NOT NULL AND next_attempt_at > UTC_TIMESTAMP(3)") == 1)

        isAnswering.value.store(true, ordering: .releasing)
        #expect(try installation.tool("dispatch", "--once").exit == .status(0))
        #expect(receiver.requests.count == 1, "the lease stands")
        // A minute later.
        try db.execute("UPDATE logout_tokens SET next_attempt_at = UTC_TIMESTAMP(3)")
        let outcome = try installation.tool("dispatch", "--once", "--json")
        #expect(try outcome.json()["logout_attempts"]?["delivered"] == 1)
        #expect(try outcome.json()["attempts"]?["delivered"] == 0)
        #expect(receiver.requests.count == 2 && receiver.requests.allSatisfy { $0.path == "/logout" })
        #expect(try count(ofTokens: "TRUE") == 0)
    }

    /// Its key cannot be opened, so nobody is sent to; nothing is lost.
    @Test func logoutTokensWaitForAKeyThatOpens() throws {
        try logout(1)
        try event(1)
        try db.execute("UPDATE signing_keys SET sealed_private_key = REPEAT('x', 2000)")
        let outcome = try installation.tool("dispatch", "--once")
        #expect(outcome.exit == .status(1), "\(outcome.errorOutput)")
        #expect(receiver.requests.map(\.path) == ["/hook"])
        #expect(try count(ofTokens: "attempts = 0 AND lease IS NULL") == 1)
    }

    @Test func theServerSendsLogoutTokensAndCounts() throws {
        try logout(3)
        let server = try installation.readyServer()
        #expect(receiver.waitForRequests(3))
        try server.wait(for: "the outcomes") {
            let text = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
            let metrics = try Exposed(text)
            return metrics["merganser_logout_attempts_total", "{outcome=\"delivered\"}"] == 3
                && metrics["merganser_logout_delivery_seconds_count"] == 3
                && metrics["merganser_logout_dead_total"] == 0
                && metrics["merganser_webhook_attempts_total", "{outcome=\"delivered\"}"] == 0
        }
        server.terminate()
        #expect(try server.waitForExit() == .status(0))
        #expect(try count(ofTokens: "TRUE") == 0)
    }

    // MARK: outbox

    private func outbox(_ arguments: String...) throws -> JSONValue {
        let outcome = try installation.tool(["outbox"] + arguments + ["--json"])
        #expect(outcome.exit == .status(0), "\(outcome.errorOutput)")
        return try outcome.json()
    }

    private func clientID() throws -> String {
        try #require(try db.first("SELECT client_id FROM applications") { row in try row.read() })
    }

    @Test func eventsAreListedAndSentAgain() throws {
        for number in 1...4 { try event(number) }
        try db.execute("UPDATE webhook_outbox SET next_attempt_at = NULL, attempts = 14")
        try db.execute("UPDATE webhook_outbox SET dlq_at = NOW(3), failure_reason = 'timeout' WHERE seq IN (1, 2)")
        try db.execute("UPDATE webhook_outbox SET delivered_at = NOW(3) WHERE seq = 3")
        func states(_ arguments: String...) throws -> [String] {
            let outcome = try installation.tool(["outbox", "list", "--json"] + arguments)
            return try outcome.json()["events"]?.array?.compactMap { $0["state"]?.string } ?? []
        }
        #expect(try states() == ["polled", "delivered", "dead", "dead"])
        #expect(try states("--limit", "1", "--state", "dead") == ["dead"])
        #expect(try states("--application", "logi_none") == [])

        let ids = try db.all("SELECT event_id FROM webhook_outbox ORDER BY seq") { row in try row.read(String.self) }
        #expect(try outbox("replay", "--event", ids[2])["replayed"] == 1)
        #expect(try outbox("replay", "--dead")["replayed"] == 2)
        #expect(try states("--state", "pending").count == 3)
        #expect(try outbox("replay", "--application", try clientID())["replayed"] == 4)
        #expect(try installation.tool("dispatch", "--once").exit == .status(0))
        #expect(receiver.requests.count == 4)
        #expect(try installation.tool("outbox", "replay", "--event", "evt_none").exit == .status(1))
        #expect(try installation.tool("outbox", "replay").exit == .status(64))
    }

    @Test func aDisabledReceiverIsEnabled() throws {
        try db.execute("UPDATE applications SET webhook_disabled_at = NOW(3)")
        try event(1)
        #expect(try installation.tool("dispatch", "--once").exit == .status(0))
        #expect(receiver.requests.isEmpty)
        #expect(try outbox("enable", try clientID())["enabled"] != nil)
        #expect(try installation.tool("dispatch", "--once").exit == .status(0))
        #expect(receiver.requests.count == 1)
    }
}
