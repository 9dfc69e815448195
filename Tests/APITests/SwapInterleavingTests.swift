import Database
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// Changes between a swap's first look at the identity and its locks. The swap decides nothing by what it saw before
/// the locks (accounts §1.9 step 1).
@Suite struct SwapInterleavingTests {
    let app: TestApp
    let scene: SwapScene
    let a: Phone
    let b: IdentifiedUser

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
        a = try scene.anonymous()
        b = try scene.identified()
    }

    @Test func anotherOwner() throws {
        let c = try scene.identified()
        let grant = try scene.grant(a.userID, try scene.relyingParty())
        let answer = try scene.send(try scene.swapRequest(a, into: b), whileLocked: b.id) { db in
            try db.execute("UPDATE identities SET user_id = ? WHERE user_id = ?", c.id, b.id)
        }
        #expect(answer["user"]?["id"]?.integer == c.id)
        #expect(try scene.ids("SELECT id FROM grants WHERE user_id = ?", c.id) == [grant])
        #expect(app.statistics.retries.value == 1)
    }

    /// Another sign-in of the owner, who stays the same.
    @Test func aNewerConsentChangesNothing() throws {
        let answer = try scene.send(try scene.swapRequest(a, into: b), whileLocked: b.id) { db in
            try db.execute(
                "UPDATE identities SET consented_at = ? WHERE user_id = ?", app.time.now + .seconds(600), b.id)
        }
        #expect(answer["user"]?["id"]?.integer == b.id)
        #expect(app.statistics.retries.value == 0)
    }

    @Test func theOwnerIsAbsorbed() throws {
        let c = try scene.identified()
        let answer = try scene.send(try scene.swapRequest(a, into: b), whileLocked: b.id) { db in
            try db.execute(
                """
                INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key)
                VALUES (?, ?, 'session_token', 'st:1')
                """, c.id, b.id)
        }
        #expect(answer["user"]?["id"]?.integer == c.id)
    }

    @Test(arguments: SwapScene.Proof.allCases) func refusals(by proof: SwapScene.Proof) throws {
        let request = try scene.swapRequest(a, into: b, by: proof)
        let purge = app.time.now + .seconds(86_400)
        let now = app.time.now
        let (a, b) = (a, b)
        let changes:
            [(user: Int, answer: String, apply: (Connection) throws -> Void, undo: (Connection) throws -> Void)] =
                [
                    (
                        a.userID, #"422 {"error":"non_anonymous_caller"}"#,
                        { try $0.execute("UPDATE users SET anonymous = 0 WHERE id = ?", a.userID) },
                        { try $0.execute("UPDATE users SET anonymous = 1 WHERE id = ?", a.userID) }
                    ),
                    (
                        a.userID, #"401 {"error":"invalid_token"}"#,
                        { try $0.execute("UPDATE paks SET revoked_at = created_at WHERE user_id = ?", a.userID) },
                        { try $0.execute("UPDATE paks SET revoked_at = NULL WHERE user_id = ?", a.userID) }
                    ),
                    (
                        a.userID, #"401 {"error":"invalid_token"}"#,
                        { try $0.execute("UPDATE users SET deleted_at = ? WHERE id = ?", now, a.userID) },
                        { try $0.execute("UPDATE users SET deleted_at = NULL WHERE id = ?", a.userID) }
                    ),
                    (
                        b.id, #"422 {"error":"account_deleted","purge_at":"\#(purge.iso8601)"}"#,
                        {
                            try $0.execute(
                                "UPDATE users SET deleted_at = ?, purge_at = ? WHERE id = ?", now, purge, b.id)
                        },
                        { try $0.execute("UPDATE users SET deleted_at = NULL, purge_at = NULL WHERE id = ?", b.id) }
                    ),
                    (
                        b.id, #"422 {"error":"identity_does_not_resolve_to_existing_account"}"#,
                        { try $0.execute("DELETE FROM identities WHERE user_id = ?", b.id) },
                        { _ in try scene.identity(b.subject, of: b.id) }
                    ),
                ]
        for (user, expected, apply, undo) in changes {
            let answer = try scene.send(request, whileLocked: user, apply)
            #expect(answer.description == expected)
            try undo(scene.db)
        }
        #expect(scene.client.send(request).status == 200)
    }

    @Test func theTicketIsUsedOrGone() throws {
        for change in ["UPDATE swap_tickets SET used_at = created_at", "DELETE FROM swap_tickets"] {
            let answer = try scene.send(try scene.swapRequest(a, into: b, by: .ticket), whileLocked: a.userID) { db in
                try db.executeScript(change)
            }
            #expect(answer.description == #"422 {"error":"invalid_swap_ticket"}"#)
        }
    }

    @Test func aGoneCaller() throws {
        for proof in SwapScene.Proof.allCases {
            let a = try scene.anonymous()
            let answer = try scene.send(try scene.swapRequest(a, into: b, by: proof), whileLocked: a.userID) { db in
                try db.execute("DELETE FROM users WHERE id = ?", a.userID)
            }
            #expect(answer.description == #"401 {"error":"invalid_token"}"#)
        }
    }

    /// The plan is made under the locks, not before.
    @Test func thePlanChanges() throws {
        let grant = try scene.grant(a.userID, try scene.relyingParty())
        let plan = try #require(try scene.preview(a, into: b)["plan"]?.string)
        let answer = try scene.send(try scene.swapRequest(a, into: b, ifMatch: plan), whileLocked: b.id) { db in
            try db.execute("UPDATE grants SET revoked_at = created_at WHERE id = ?", grant)
        }
        #expect(answer.description == #"412 {"error":"plan_changed"}"#)
    }

    @Test func theDeviceGoesToAnother() throws {
        let c = try scene.identified()
        let answer = try scene.send(try scene.swapRequest(a, into: b), whileLocked: a.userID) { db in
            try db.execute("UPDATE paks SET device_id = NULL WHERE user_id = ?", a.userID)
            try db.execute("UPDATE devices SET user_id = ? WHERE user_id = ?", c.id, a.userID)
        }
        #expect(answer.status == 200)
        #expect(answer["device"] == .null)
        #expect(try scene.ids("SELECT user_id FROM devices") == [c.id])
    }
}
