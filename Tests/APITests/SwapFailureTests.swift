import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// If the database fails at any point, a swap is complete or has not happened (accounts §1.9).
@Suite struct SwapFailureTests {
    static let unavailable = #"503 {"error":"temporarily_unavailable"}"#

    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    /// Accounts for a swap that writes to every table a swap can write to.
    private func cast(_ scene: SwapScene) throws -> (a: Phone, b: IdentifiedUser) {
        let (a, b) = (try scene.anonymous(), try scene.identified(name: nil))
        let shared = try scene.relyingParty(notified: true)
        try scene.grant(a.userID, try scene.relyingParty(notified: true))
        try scene.grant(a.userID, shared)
        try scene.grant(b.id, shared)
        let agent = try scene.agent(a.userID)
        try scene.approval(a.userID, of: agent, payload: "same")
        try scene.approval(a.userID, of: agent)
        try scene.approval(b.id, of: try scene.agent(b.id), payload: "same")
        try scene.notification(requested: a.userID)
        try scene.notification(requested: b.id, approved: a.userID)
        try scene.phone(of: a.userID)
        return (a, b)
    }

    private func request(_ a: Phone, _ b: IdentifiedUser, key: String? = "key") throws -> RepeatableRequest {
        try scene.swapRequest(a, into: b, by: .ticket, [("full_name", ["given_name": "Bea"])], key: key)
    }

    @Test func whicheverRowCannotBeWritten() throws {
        let injection = FailureInjection(app: app) { [scene] _ in
            let (a, b) = try cast(scene)
            return try request(a, b)
        }
        try injection.run(
            expecting: [
                "idempotency_records INSERT", "grants UPDATE", "agents UPDATE", "agent_approvals DELETE",
                "agent_approvals UPDATE", "push_approval_requests UPDATE", "absorbed_subs INSERT", "devices UPDATE",
                "paks INSERT", "login_events INSERT", "users UPDATE", "users DELETE",
                "application_event_counters INSERT", "application_event_counters UPDATE", "webhook_outbox INSERT",
                "audit_log INSERT",
                "idempotency_records UPDATE",
            ])
    }

    @Test func aDeadlockAtAnyRowIsNotSeen() throws {
        try TransientFailures(app).deadlockAtEachRow(of: app) {
            let (a, b) = try cast(scene)
            let request = try request(a, b)
            let invariants = try SwapInvariants(scene)
            return (
                request,
                { answer, comment in
                    let merged = answer["merged"]
                    #expect(merged?["rps"] == ["transferred": 1, "skipped_duplicate": 1], comment)
                    #expect(merged?["agent_approvals"] == ["transferred": 1, "skipped_duplicate": 1], comment)
                    #expect(merged?["notifications"] == ["transferred": 2], comment)
                    try invariants.check([DoneSwap(from: a.userID, into: b.id)], comment)
                }
            )
        }
    }

    /// Deadlock, lock wait, record changed, cluster not ready, error during COMMIT; a connection killed by an operator.
    @Test func exhaustedAttemptsChangeNothing() throws {
        let failures = try TransientFailures(app)
        let (a, b) = try cast(scene)
        for (count, code) in [1213, 1205, 1020, 1047, 1180, 1927].enumerated() {
            for key in ["key", nil] {
                let request = try request(a, b, key: key)
                try failures.stop()
                try app.expectUnchanged {
                    try failures.fail(8...100_000, with: code)
                    let refused = app.client().send(request)
                    try failures.stop()
                    #expect(refused.description == Self.unavailable, "\(code)")
                    #expect(refused.header("Retry-After") == "1", "\(code)")
                }
                #expect(scene.client.send(.get, "/api/v1/me", token: a.token).status == 200, "\(code)")
            }
            #expect(app.statistics.exhaustions.value == 2 * (count + 1), "\(code)")
            #expect(app.statistics.retries.value == 10 * (count + 1), "six attempts each, \(code)")
        }
        #expect(scene.client.send(try request(a, b)).status == 200)
    }

    @Test func aLockNobodyGivesUpIsWaitedForInVain() throws {
        var options = app.database.options
        options.lockWaitTimeout = .seconds(1)
        let app = try TestApp(database: app.database, options: options)
        let (a, b) = try cast(scene)
        let request = try request(a, b)
        let holder = try app.database.connect()
        try holder.executeScript("START TRANSACTION; SELECT * FROM users WHERE id = \(b.id) FOR UPDATE")
        try app.expectUnchanged {
            let refused = app.client().send(request)
            #expect(refused.description == Self.unavailable)
            #expect(refused.header("Retry-After") == "1")
        }
        #expect(app.statistics.lockTimeouts.value == 6)
        try holder.executeScript("ROLLBACK")
        let answer = app.client().send(request)
        #expect(answer.status == 200)
        #expect(answer.header("Idempotency-Replayed") == nil)
    }

    @Test func aConnectionKilledInTheMiddleIsNotSeen() throws {
        let (a, b) = try cast(scene)
        let invariants = try SwapInvariants(scene)
        let answer = try scene.send(try request(a, b)) {
            let waiting = try scene.ids(
                "SELECT id FROM information_schema.processlist WHERE state = 'User lock' AND db = DATABASE()")
            try scene.db.executeScript("KILL \(try #require(waiting.first))")
        }
        #expect(answer.status == 200)
        #expect(app.statistics.reconnects.value == 1)
        try invariants.check([DoneSwap(from: a.userID, into: b.id)])
    }
}
