import API
import Database
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// Events that are sent again beside those that are new (accounts §3.4).
@Suite struct ReplayTests {
    private let scene: DeliveryScene

    init() throws { scene = try DeliveryScene() }

    private func replay(_ events: ReplayedEvents, of receiver: DeliveryScene.Receiver) throws -> Int {
        try Accounts.write(
            Database(scene.app.database.options), at: scene.app.time.clock, from: Origin(requestID: "", address: "")
        ) { try $0.replayEvents(events, of: receiver.clientID) }
    }

    /// Delivered long ago.
    private func deliveredEvents(_ count: Int, of receiver: DeliveryScene.Receiver) throws -> [String] {
        let ids = try (0..<count).map { _ in try scene.event(for: receiver) }
        try scene.app.change(
            "UPDATE webhook_outbox SET next_attempt_at = NULL, delivered_at = ?, attempts = 1", scene.app.time.now)
        return ids
    }

    private func outboxDelay() throws -> Duration? {
        try scene.app.sql { try $0.accountsUpkeep(at: scene.app.time.now)?.outboxDelay }
    }

    @Test func newEventsAreSentFirst() throws {
        let receiver = try scene.receiver()
        let old = try deliveredEvents(40, of: receiver)
        #expect(try replay(.written(since: nil, until: nil), of: receiver) == 40)
        scene.app.time.advance(by: .seconds(300))
        let new = try (0..<3).map { _ in try scene.event(for: receiver) }
        // One after the other, since those that are under way together come in any order.
        try scene.dispatch { $0.concurrency = 1 }
        #expect(receiver.events.count == 43)
        #expect(Set(receiver.events.prefix(3)) == Set(new))
        #expect(Set(receiver.events.dropFirst(3)) == Set(old))
    }

    /// Applications that only wait for replays come after all others when places are few.
    @Test func newEventsOfOthersAreSentFirst() throws {
        let (replayed, other) = (try scene.receiver(), try scene.receiver())
        _ = try deliveredEvents(5, of: replayed)
        #expect(try replay(.written(since: nil, until: nil), of: replayed) == 5)
        scene.app.time.advance(by: .seconds(300))
        for _ in 0..<5 { try scene.event(for: other) }
        try scene.dispatch { $0.concurrency = 1 }
        let order = try scene.app.column(
            "SELECT CAST(application_id AS CHAR) FROM webhook_attempts ORDER BY id")
        #expect(order == Array(repeating: "\(other.id)", count: 5) + Array(repeating: "\(replayed.id)", count: 5))
    }

    @Test func theyAreOnlyAsOldAsTheReplay() throws {
        let receiver = try scene.receiver()
        _ = try deliveredEvents(2, of: receiver)
        scene.app.time.advance(by: .seconds(86_400))
        #expect(try replay(.written(since: nil, until: nil), of: receiver) == 2)
        scene.app.time.advance(by: .seconds(600))
        #expect(try outboxDelay() == .zero, "they wait for their turn")
        let new = try scene.event(for: receiver)
        scene.app.time.advance(by: .seconds(60))
        #expect(try outboxDelay() == .seconds(60))
        try scene.app.change("DELETE FROM webhook_outbox WHERE event_id = ?", new)
        try scene.dispatch()
        #expect((1320...1400).contains(scene.statistics.snapshot.webhooks.seconds))
    }

    @Test func onlyTypesThatArePushedAreReplayed() throws {
        let receiver = try scene.receiver()
        let ids = try ["user.merged", "token.revoked", "webhook.test"].map { try scene.event(for: receiver.id, $0) }
        try scene.app.change("UPDATE webhook_outbox SET next_attempt_at = NULL, dlq_at = ?", scene.app.time.now)
        try scene.app.change(
            #"UPDATE applications SET webhook_events = '["user.merged"]' WHERE id = ?"#, receiver.id)
        #expect(try replay(.dead, of: receiver) == 2)
        try scene.dispatch()
        #expect(Set(receiver.events) == [ids[0], ids[2]])
        #expect(try replay(.written(since: nil, until: nil), of: receiver) == 2)
        try scene.dispatch()
        // The developer names this one.
        #expect(try replay(.one(eventID: ids[1]), of: receiver) == 1)
        try scene.dispatch()
        #expect(receiver.events.last == ids[1])
    }

    /// A look reads a few rows for each application, however many wait.
    @Test func whatWaitsCostsNothing() throws {
        let receiver = try scene.receiver()
        _ = try deliveredEvents(200, of: receiver)
        #expect(try replay(.written(since: nil, until: nil), of: receiver) == 200)
        for _ in 0..<100 { try scene.event(for: receiver) }
        let (now, key) = (scene.app.time.now, scene.app.service.accounts.serverKey)
        try Accounts.write(Database(scene.app.database.options), from: Origin(requestID: "", address: "")) {
            transaction in
            let start = try rowsRead(transaction.connection)
            let due = try transaction.connection.dueApplications(at: now)
            #expect(due.count == 1)
            let deliveries = try transaction.claimDeliveries(
                for: due.map { (target: $0, count: 2) }, at: now, serverKey: key)
            #expect(deliveries.count == 2)
            #expect(try rowsRead(transaction.connection) - start < dueRowsReadAtOnce + 20)
        }
    }

    /// MariaDB's statistics are older than the events, as after every burst.
    @Test func eventsThatNobodyWaitsForCostNothing() throws {
        let receiver = try scene.receiver()
        _ = try deliveredEvents(300, of: receiver)
        try scene.app.sql { connection in
            let start = try rowsRead(connection)
            #expect(try connection.dueApplications(at: scene.app.time.now).isEmpty)
            #expect(try rowsRead(connection) - start < 5)
            try scene.event(for: receiver)
            #expect(try connection.dueApplications(at: scene.app.time.now).count == 1)
            #expect(try rowsRead(connection) - start < 10)
        }
    }

    /// Of indexes, one after the other.
    private func rowsRead(_ connection: Connection) throws -> Int {
        let row = try connection.query("SHOW SESSION STATUS LIKE 'Handler_read_next'").first
        return try #require(row?[1].flatMap { Int(String(decoding: $0, as: UTF8.self)) })
    }

    /// The same for the gauge, which the console reads with each look at its front page. No statistics know of the burst.
    @Test(arguments: [(0, 300), (1, 300), (63, 300), (64, 0)])
    func theGaugeReadsAFewRows(due: Int, delivered: Int) throws {
        let receiver = try scene.receiver()
        try scene.app.change(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, seq, next_attempt_at, delivered_at)
            SELECT ?, CONCAT('evt_01J000000000000000', LPAD(seq, 8, '0')), 'user.merged', '{}', 1000 + seq,
                   IF(seq <= ?, ?, NULL), IF(seq <= ?, NULL, NOW(3))
            FROM seq_1_to_600 WHERE seq <= ?
            """, receiver.id, due, scene.app.time.now - .seconds(60), due, due + delivered)
        try scene.app.sql { connection in
            let start = try rowsRead(connection)
            let delay = try connection.accountsUpkeep(at: scene.app.time.now)?.outboxDelay
            #expect((delay ?? .zero > .zero) == (due > 0))
            #expect(try rowsRead(connection) - start <= 2 * dueRowsReadAtOnce + 20)
        }
    }

    // MARK: Gauges

    /// Nobody waits for a receiver that is not sent to for another reason.
    @Test(
        arguments: ["status = 'suspended'", "status = 'pending'", "webhook_url = NULL", nil] as [String?])
    func whatIsNotSentToIsNotCounted(setting: String?) throws {
        let (probed, disabled) = (try scene.receiver(), try scene.receiver())
        try scene.event(for: probed)
        try scene.app.change(
            """
            INSERT INTO webhook_failures (application_id, failures, failing_since, failed_at, probe_at)
            VALUES (?, 5, NOW(3), NOW(3), NOW(3))
            """, probed.id)
        try scene.app.change("UPDATE applications SET webhook_disabled_at = NOW(3) WHERE id = ?", disabled.id)
        if let setting { try scene.app.database.connect().executeScript("UPDATE applications SET \(setting)") }
        let upkeep = try scene.app.sql { try $0.accountsUpkeep(at: scene.app.time.now) }
        #expect(upkeep?.openBreakers == (setting == nil ? 1 : 0))
        #expect(upkeep?.disabledEndpoints == (setting == nil ? 1 : 0))
    }
}
