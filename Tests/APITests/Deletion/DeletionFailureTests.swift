import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// Nothing half done: whatever the database refuses, a deletion or a purge is whole or it was never there.
@Suite struct DeletionFailureTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    private func member() throws -> Member {
        let member = try scene.member()
        try scene.furnish(member.id, shared: try scene.relyingParty())
        _ = try scene.mergeToken(of: member.id)
        return member
    }

    @Test func whicheverRowCannotBeWritten() throws {
        try FailureInjection(app: app) { _ in .deletion(by: try member().token) }.run(
            expecting: [
                "users UPDATE", "devices DELETE", "paks UPDATE", "swap_tickets UPDATE", "merge_tokens UPDATE",
                "web_sessions DELETE", "grants UPDATE", "authorization_codes UPDATE", "refresh_families UPDATE",
                "agents UPDATE", "agent_approvals UPDATE", "push_approval_requests UPDATE", "deletion_notices INSERT",
                "application_event_counters INSERT", "application_event_counters UPDATE", "webhook_outbox INSERT",
                "audit_log INSERT",
            ], status: 202)
    }

    @Test func aDeadlockAtAnyRowIsNotSeen() throws {
        let failures = try TransientFailures(app)
        var row = 0
        var retries = -1
        // Until there is no such row any more.
        while app.statistics.retries.value > retries {
            retries = app.statistics.retries.value
            row += 1
            let member = try member()
            try failures.fail(row...row, with: 1213)
            let answer = app.client().send(.deletion(by: member.token))
            try failures.stop()
            #expect(answer.status == 202, "row \(row)")
            try app.expectEnded(member.id, "row \(row)")
        }
        #expect(row > 15)
    }

    /// At each row that a purge of a family of three writes. Nobody is erased by halves, and the next purge goes on.
    @Test func aPurgeThatFailsAnywhereGoesOn() throws {
        let failures = try TransientFailures(app)
        var row = 0
        var isWhole = false
        while !isWhole {
            row += 1
            try #require(row < 100)
            let (survivor, absorbed) = (try member(), try member())
            try scene.merge(absorbed.id, into: survivor)
            let family = try scene.ids(
                "SELECT linked_user_id FROM identity_links WHERE primary_user_id = ? ORDER BY 1", survivor.id)
            try #require(app.client().send(.deletion(by: survivor.token)).status == 202)
            try app.change("UPDATE users SET purge_at = ? WHERE id = ?", app.time.now, survivor.id)
            // An error that is not repeated.
            try failures.fail(row...row, with: 1644)
            isWhole = (try? app.purge()) != nil
            try failures.stop()
            let gone = try (family + [survivor.id]).filter {
                try app.count("SELECT COUNT(*) FROM users WHERE id = ?", $0) == 0
            }
            let mentions = gone.isEmpty ? [:] : try scene.mentions(of: gone).filter { $0.value > 0 }
            #expect(mentions == [:], "row \(row)")
            #expect(try app.purge() == (family + [survivor.id]).filter { !gone.contains($0) }, "row \(row)")
            #expect(
                try app.count(
                    "SELECT COUNT(*) FROM webhook_outbox WHERE event_type = 'user.purged' AND raw_payload LIKE ?",
                    "%\"canonical_sub\":\"\(survivor.id)\"%") == 2, "row \(row)")
        }
        #expect(row > 10)
    }
}
