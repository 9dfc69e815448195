import Accounts
import Database
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

/// The PAK of `POST /api/v1/me/connected_identities`, which is read with what the rule locks (accounts §0.2, §1.8).
@Suite struct LinkCredentialTests {
    let app: TestApp
    let scene: SwapScene
    let phone: Phone

    init() throws {
        app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, pakLifetime: .seconds(86_400)))
        scene = try SwapScene(app)
        phone = try scene.anonymous()
    }

    private static let path = "/api/v1/me/connected_identities"

    private func link(_ body: JSONValue?, token: String?, key: String? = nil) -> Answer {
        app.client().send(
            .post, Self.path, body, token: token, headers: key.map { [("idempotency-key", $0)] } ?? [])
    }

    private func proof(of user: IdentifiedUser) -> JSONValue {
        [
            "provider": "apple", "raw_nonce": "nonce",
            "identity_token": .string(app.issuer(.apple).token(subject: user.subject)),
        ]
    }

    /// Bodies that are refused, and some that are not.
    private func bodies() throws -> [JSONValue?] {
        let free = app.proof().adding(["provider": "apple"])
        return [
            nil, [:], ["provider": "facebook"], ["provider": "apple"], ["provider": "apple", "identity_token": 5],
            free.adding(["raw_nonce": "another"]), free.adding(["full_name": 5]), free,
            free.adding(["authorization_code": "code"]), proof(of: try scene.identified()),
        ]
    }

    private func expectRefused(_ token: String?, _ status: Int, _ error: String) throws {
        for body in try bodies() {
            for key in [nil, "0123456789abcdef0123456789"] {
                try app.expectUnchanged {
                    let answer = link(body, token: token, key: key)
                    #expect("\(answer)" == refusal(status, error), "\(String(describing: body))")
                }
            }
        }
    }

    @Test func itComesBeforeTheBody() throws {
        for token in [nil, "", "x", "lpk_live_x", phone.secret] { try expectRefused(token, 401, "invalid_token") }
        try app.change("UPDATE paks SET scopes = 'profile:read' WHERE user_id = ?", phone.userID)
        try expectRefused(phone.token, 403, "insufficient_scope")
        let bound = try scene.anonymous()
        try app.change(
            "UPDATE paks SET application_id = ? WHERE user_id = ?", try app.makeApplication(), bound.userID)
        try expectRefused(bound.token, 403, "insufficient_scope")
        let revoked = try scene.anonymous()
        try app.change("UPDATE paks SET revoked_at = created_at WHERE user_id = ?", revoked.userID)
        try expectRefused(revoked.token, 401, "invalid_token")
        let deleted = try scene.anonymous()
        try app.change("UPDATE users SET deleted_at = created_at WHERE id = ?", deleted.userID)
        try expectRefused(deleted.token, 401, "invalid_token")
    }

    @Test func itEndsAtItsLifetime() throws {
        let holder = try scene.identified()
        app.time.advance(by: .seconds(86_399))
        #expect(link(proof(of: holder), token: phone.token).status == 409)
        app.time.advance(by: .seconds(1))
        try expectRefused(phone.token, 401, "invalid_token")
    }

    /// Also if the link commits a refusal, and if it promotes.
    @Test func itsUseIsActivity() throws {
        let holder = try scene.identified()
        let lastActive = "SELECT last_active_at = ? FROM users WHERE id = ?" as StaticString
        for (isHeld, status) in [(true, 409), (false, 200)] {
            app.time.advance(by: .seconds(3600))
            let body = isHeld ? proof(of: holder) : app.proof().adding(["provider": "apple"])
            #expect(link(body, token: phone.token).status == status)
            #expect(try app.count(lastActive, app.time.now, phone.userID) == 1)
        }
    }

    /// No row is read, and so none is locked, but for who is named.
    @Test(arguments: [true, false], [true, false]) func nobodyElseIsLocked(isLive: Bool, isHeld: Bool) throws {
        for _ in 0..<20 { _ = try scene.identified() }
        let holder = try scene.identified()
        let body = isHeld ? proof(of: holder) : app.proof().adding(["provider": "apple", "raw_nonce": "nonce"])
        let meter = try ReadMeter(app)
        let (answer, cost) = try meter.measure { client in
            client.send(.post, Self.path, body, token: isLive ? phone.token : "lpk_live_x")
        }
        #expect(answer.status == (!isLive ? 401 : isHeld ? 409 : 200))
        let users = cost.plan.filter { $0.table == "u" }
        #expect(users.allSatisfy { ["range", "const", "eq_ref"].contains($0.type) }, "\(users)")
        #expect(isLive || isHeld ? !users.isEmpty : users.isEmpty, "\(cost.plan)")
    }

    /// Changes between the first look at the caller and the lock. In the meantime the request waits.
    @Test func whatItHadBeforeTheLockDecidesNothing() throws {
        let b = try scene.identified()
        let other = try scene.anonymous()
        let (caller, now) = (phone.userID, app.time.now)
        let request = RepeatableRequest(method: .post, path: Self.path, body: proof(of: b), token: phone.token)
        let changes: [(answer: String, apply: (Connection) throws -> Void, undo: (Connection) throws -> Void)] = [
            (
                refusal(401, "invalid_token"),
                { try $0.execute("UPDATE paks SET revoked_at = created_at WHERE user_id = ?", caller) },
                { try $0.execute("UPDATE paks SET revoked_at = NULL WHERE user_id = ?", caller) }
            ),
            (
                refusal(401, "invalid_token"),
                { try $0.execute("UPDATE users SET deleted_at = ? WHERE id = ?", now, caller) },
                { try $0.execute("UPDATE users SET deleted_at = NULL WHERE id = ?", caller) }
            ),
            (
                refusal(403, "insufficient_scope"),
                { try $0.execute("UPDATE paks SET scopes = 'profile:read' WHERE user_id = ?", caller) },
                { try $0.execute("UPDATE paks SET scopes = 'profile:write' WHERE user_id = ?", caller) }
            ),
        ]
        for change in changes {
            let before = try app.count("SELECT COUNT(*) FROM swap_tickets")
            let answer = try scene.send(request, whileLocked: caller, change.apply)
            #expect("\(answer)" == change.answer)
            #expect(try app.count("SELECT COUNT(*) FROM swap_tickets") == before)
            try change.undo(try app.database.connect())
        }
        // Whose the PAK is now gets the ticket.
        let answer = try scene.send(request, whileLocked: caller) { db in
            try db.execute("UPDATE paks SET user_id = ? WHERE user_id = ?", other.userID, caller)
        }
        #expect(answer.status == 409 && answer["swap_ticket"] != nil, "\(answer)")
        #expect(try scene.ids("SELECT user_id FROM swap_tickets") == [other.userID])
        #expect(app.statistics.retries.value == 1)
    }

    /// Two threads, many times: a PAK that was revoked links nothing afterwards.
    @Test func aSignOutBesideALink() throws {
        let phones = try (0..<40).map { _ in try scene.anonymous() }
        let rounds = app.race(2, rounds: phones.count) { [app] client, thread, round in
            thread == 0
                ? client.send(
                    .post, Self.path, app.proof("\(round)").adding(["provider": "apple"]), token: phones[round].token)
                : client.send(.delete, "/api/v1/auth/session", token: phones[round].token)
        }
        for (round, answers) in rounds.enumerated() {
            let (link, end) = (answers[0], answers[1])
            #expect([200, 401].contains(link.status) && [204, 401].contains(end.status), "\(link) \(end)")
            let linked = try app.count("SELECT COUNT(*) FROM identities WHERE user_id = ?", phones[round].userID)
            #expect(linked == (link.status == 200 ? 1 : 0))
            // Both hold the user until they have written their entries.
            let entries = try app.column(
                """
                SELECT action FROM audit_log WHERE user_id = ? AND action IN ('identity.linked', 'pak.revoked') ORDER BY id
                """, phones[round].userID)
            let expected = (link.status == 200 ? ["identity.linked"] : []) + (end.status == 204 ? ["pak.revoked"] : [])
            #expect(entries == expected)
        }
    }
}

/// How many statements a link takes, by the server's own counters.
@Suite struct LinkCostTests {
    private let server: MariaDBServer

    init() throws { server = try MariaDBServer() }

    @Test func theCallerIsReadWithTheLock() throws {
        let app = try TestApp(database: try TestDatabase(on: server))
        let scene = try SwapScene(app)
        let (phone, holder) = (try scene.anonymous(), try scene.identified())
        let proof: JSONValue = [
            "provider": "apple", "raw_nonce": "nonce",
            "identity_token": .string(app.issuer(.apple).token(subject: holder.subject)),
        ]
        let (client, watcher) = (app.client(), try app.database.connect())
        func questions() throws -> Int {
            let row = try watcher.query("SHOW GLOBAL STATUS LIKE 'Questions'").first
            return try #require(row?[1].flatMap { Int(String(decoding: $0, as: UTF8.self)) })
        }
        func cost() throws -> Int {
            let before = try questions()
            let answer = client.send(.post, "/api/v1/me/connected_identities", proof, token: phone.token)
            #expect(answer.status == 409, "\(answer)")
            // The second reading of the counter is a statement, too.
            return try questions() - before - 1
        }
        // The connection is opened, and prepares.
        _ = try cost()
        // BEGIN; the users; the PAK with the holder; COMMIT with the ticket.
        let cost = try cost()
        #expect(cost == 4)
    }
}
