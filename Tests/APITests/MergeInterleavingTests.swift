import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// What changes between a merge's first look at the token and its locks: nothing is decided by what it saw before (accounts
/// §3.2).
@Suite struct MergeInterleavingTests {
    let app: TestApp
    let scene: SwapScene
    let requester: Member
    let target: Member

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
        requester = try scene.member()
        target = try scene.member()
    }

    private func link(_ user: Int, _ survivor: Int, _ db: Connection) throws {
        try db.execute(
            """
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key)
            VALUES (?, ?, 't1_device_link', ?)
            """, survivor, user, "t1:x:\(user)")
    }

    @Test func refusals() throws {
        let other = try scene.identified().id
        let request = scene.mergeRequest(requester, try scene.mergeToken(of: target.id))
        let (now, requester, target) = (app.time.now, requester.id, target.id)
        let gone = #"401 {"error":"invalid_token"}"#
        let changes: [(user: Int, answer: String, isOwn: Bool, (Connection) throws -> Void, undo: StaticString)] = [
            (
                requester, gone, true, { try link(requester, other, $0) }, "DELETE FROM identity_links"
            ),
            (
                requester, gone, true,
                { try $0.execute("UPDATE paks SET revoked_at = created_at WHERE user_id = ?", requester) },
                "UPDATE paks SET revoked_at = NULL"
            ),
            (
                requester, gone, true,
                { try $0.execute("UPDATE users SET deleted_at = ? WHERE id = ?", now, requester) },
                "UPDATE users SET deleted_at = NULL"
            ),
            (target, gone, false, { try link(target, other, $0) }, "DELETE FROM identity_links"),
            (
                target, gone, false, { try $0.execute("UPDATE users SET deleted_at = ? WHERE id = ?", now, target) },
                "UPDATE users SET deleted_at = NULL"
            ),
            (
                target, #"401 {"error":"token_consumed"}"#, false,
                { try $0.execute("UPDATE merge_tokens SET used_at = created_at") },
                "UPDATE merge_tokens SET used_at = NULL"
            ),
        ]
        for (user, expected, isOwn, change, undo) in changes {
            let answer = try scene.send(request, whileLocked: user, change)
            #expect(answer.description == expected, "\(undo)")
            #expect((answer.header("WWW-Authenticate") != nil) == isOwn, "\(undo)")
            try scene.db.execute(undo)
        }
        #expect(scene.client.send(request).status == 200)
    }

    @Test func aTargetThatIsGone() throws {
        let request = scene.mergeRequest(requester, try scene.mergeToken(of: target.id))
        let answer = try scene.send(request, whileLocked: target.id) { db in
            try db.execute("DELETE FROM users WHERE id = ?", target.id)
        }
        #expect(answer.description == #"401 {"error":"invalid_token"}"#)
        #expect(answer.header("WWW-Authenticate") == nil)
    }

    /// The plan is made under the locks, not before.
    @Test func thePlanChanges() throws {
        let grant = try scene.grant(target.id, try scene.relyingParty())
        let token = try scene.mergeToken(of: target.id)
        let preview = scene.client.send(scene.mergeRequest(requester, token, [("dry_run", true)]))
        let plan = try #require(preview["plan"]?.string)
        let answer = try scene.send(scene.mergeRequest(requester, token, ifMatch: plan), whileLocked: target.id) { db in
            try db.execute("UPDATE grants SET revoked_at = created_at WHERE id = ?", grant)
        }
        #expect(answer.description == #"412 {"error":"plan_changed"}"#)
    }

    /// What comes to the target before its lock is given up moves, too.
    @Test func whatComesMeanwhileMoves() throws {
        let rp = try scene.relyingParty()
        let request = scene.mergeRequest(requester, try scene.mergeToken(of: target.id))
        let answer = try scene.send(request, whileLocked: target.id) { db in
            try db.execute(
                "INSERT INTO grants (user_id, application_id, sub) VALUES (?, ?, ?)", target.id, rp.id, "\(target.id)")
        }
        #expect(answer.status == 200)
        #expect(try scene.ids("SELECT user_id FROM grants") == [requester.id])
        #expect(try scene.ids("SELECT application_id FROM webhook_outbox") == [rp.id])
    }
}
