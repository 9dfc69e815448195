import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// Nothing half done: whatever the database refuses, a merge is whole or it was never there (accounts §3.2).
@Suite struct MergeFailureTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    /// A merge that writes to every table a merge can write to.
    private func request() throws -> RepeatableRequest {
        let (survivor, absorbed) = (try scene.member(name: nil), try scene.member())
        try scene.furnish(absorbed.id, shared: try scene.relyingParty())
        return scene.mergeRequest(survivor, try scene.mergeToken(of: absorbed.id), key: "key")
    }

    @Test func whicheverRowCannotBeWritten() throws {
        let injection = FailureInjection(app: app) { _ in try request() }
        try injection.run(
            expecting: [
                "idempotency_records INSERT", "applications UPDATE", "users UPDATE", "identities UPDATE",
                "devices UPDATE", "paks UPDATE", "swap_tickets UPDATE", "merge_tokens UPDATE", "web_sessions DELETE",
                "login_events UPDATE", "login_events INSERT", "grants UPDATE", "agents UPDATE",
                "agent_approvals UPDATE",
                "push_approval_requests UPDATE", "absorbed_subs UPDATE", "identity_links UPDATE",
                "identity_links INSERT", "application_event_counters INSERT", "application_event_counters UPDATE",
                "webhook_outbox INSERT", "identity_link_events INSERT", "audit_log INSERT",
                "idempotency_records UPDATE",
            ])
    }

    @Test func aDeadlockAtAnyRowIsNotSeen() throws {
        try TransientFailures(app).deadlockAtEachRow(of: app) {
            let request = try request()
            let links = try scene.ids("SELECT id FROM identity_links WHERE merged_via = 'session_token'").count
            let invariants = try MergeInvariants(scene)
            return (request, { _, comment in try invariants.check(links: links + 1, comment) })
        }
    }

    @Test func exhaustedAttemptsChangeNothing() throws {
        let failures = try TransientFailures(app)
        let request = try request()
        try failures.stop()
        try app.expectUnchanged {
            try failures.fail(8...100_000, with: 1213)
            let refused = app.client().send(request)
            try failures.stop()
            #expect(refused.description == #"503 {"error":"temporarily_unavailable"}"#)
            #expect(refused.header("Retry-After") == "1")
        }
        #expect(app.client().send(request).status == 200)
    }
}
