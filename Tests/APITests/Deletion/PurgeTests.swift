import API
import Accounts
import HTTP
import IdentityTokens
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing
import Text
import Time

/// What remains of a deleted account after its grace (accounts §4.5): nothing that names it.
@Suite struct PurgeTests {
    let scene: OAuthScene
    let app: TestApp

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        // Ids that no other table's rows have.
        try app.sql { try $0.executeScript("ALTER TABLE users AUTO_INCREMENT = 7654301") }
    }

    private func delete(_ phone: Phone) throws {
        let answer = scene.client.send(.deletion(by: phone.token))
        try #require(answer.status == 202, "\(answer)")
    }

    private func users() throws -> [String] { try app.column("SELECT CAST(id AS CHAR) FROM users ORDER BY id") }

    // MARK: When

    @Test func whenTheGraceIsOver() throws {
        let (person, other) = (try scene.person(), try scene.person("other", email: nil))
        try delete(person)
        app.time.advance(by: .seconds(30 * 86_400 - 1))
        #expect(try app.purge() == [])
        app.time.advance(by: .seconds(1))
        #expect(try app.purge() == [person.userID])
        #expect(try users() == ["\(other.userID)"])
        #expect(try app.purge() == [])
        // Its identity is nobody's; a new account has a new id.
        #expect(try app.count("SELECT COUNT(*) FROM identities") == 1)
        #expect(try scene.anonymous().userID > other.userID)
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', COALESCE(user_id, '-'), actor, action, details) FROM audit_log WHERE action = 'user.purged'"
            )
                == [#"- operator user.purged {"user_id":\#(person.userID)}"#])
    }

    /// An app that launched without an end, for days.
    @Test func manyRowsAreErasedInBatches() throws {
        let (person, other) = (try scene.person(), try scene.person("other", email: nil))
        try app.change(
            """
            INSERT INTO audit_log (at, user_id, actor, action, ip, details)
            SELECT ?, IF(seq % 3 = 0, ?, ?), CONCAT('user:', ?), 'test', '192.0.2.1', '{"device_uuid":"d"}'
            FROM seq_1_to_3000
            """, app.time.now, other.userID, person.userID, person.userID)
        try app.change(
            "INSERT INTO login_events (user_id, event) SELECT ?, 'signed_in' FROM seq_1_to_12000", person.userID)
        try delete(person)
        app.time.advance(by: .seconds(30 * 86_400))
        #expect(try app.purge() == [person.userID])
        #expect(try app.count("SELECT COUNT(*) FROM login_events WHERE user_id = ?", person.userID) == 0)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', COALESCE(user_id, '-'), COALESCE(ip, '-'), details, COUNT(*)) FROM audit_log
                WHERE action = 'test' GROUP BY user_id, ip, details ORDER BY user_id
                """)
                == [#"- - {"device_uuid": null} 2000"#, #"\#(other.userID) - {"device_uuid": null} 1000"#])
    }

    /// An account that was swapped in, and given back, is somebody else's.
    @Test func aSwapThatWasUndoneHoldsNothingUp() throws {
        let (person, guest) = (try scene.person(), try scene.anonymous())
        let swapped = try Phone(scene.client.send(scene.swapRequest(guest, into: "subject")))
        app.time.advance(by: .seconds(1))
        try app.undo(try app.newestSwap())
        // The phone has the secret that it got last.
        let token = try scene.client.reopen(swapped)
        try delete(person)
        app.time.advance(by: .seconds(30 * 86_400))
        #expect(try app.purge() == [person.userID])
        // What the account did itself still says from where.
        #expect(
            try app.count(
                "SELECT COUNT(*) FROM audit_log WHERE actor = ? AND action = 'pak.issued' AND ip IS NOT NULL",
                "user:\(guest.userID)") > 0)
        #expect(scene.client.send(.get, "/api/v1/me", token: token).status == 200)
    }

    /// Imported rows may have no `purge_at`, and be absorbed.
    @Test func importedAccountsToo() throws {
        let people = try (0..<3).map { try scene.person("person \($0)", email: nil).userID }
        try app.absorb(people[1], into: people[2])
        for id in people.prefix(2) {
            try app.change("UPDATE users SET deleted_at = ? WHERE id = ?", app.time.now - .seconds(86_400), id)
        }
        app.time.advance(by: .seconds(29 * 86_400 - 1))
        #expect(try app.purge() == [])
        app.time.advance(by: .seconds(1))
        // Whose survivor lives is no account of its own.
        #expect(try app.purge() == [people[0]])
    }

    @Test func absorbedAccountsFirst() throws {
        let people = try (0..<4).map { try scene.person("person \($0)", email: nil) }
        for index in [3, 0] { try scene.merge(people[index].userID, into: people[1].userID) }
        let shop = try scene.register()
        _ = try scene.signIn(shop, as: people[1])
        try delete(people[1])
        try app.change("DELETE FROM webhook_outbox")
        app.time.advance(by: .seconds(30 * 86_400))
        #expect(try app.purge() == [people[0].userID, people[3].userID, people[1].userID])
        #expect(try users() == ["\(people[2].userID)"])
        let linked = [people[0].userID, people[3].userID].map { "\"\($0)\"" }.joined(separator: ",")
        let sub = people[1].userID
        // Once, in the words of the deletion: the absorbed accounts are gone by then.
        #expect(
            try app.events(at: shop.id)
                == [#"user.purged {"canonical_sub":"\#(sub)","linked_subs":[\#(linked)],"sub":"\#(sub)"}"#])
    }

    @Test func onlyWhoWasToldOfTheDeletionIsToldOfThePurge() throws {
        let (shop, left) = (try scene.register("Shop"), try scene.register("Left"))
        let person = try scene.person()
        for rp in [shop, left] { _ = try scene.signIn(rp, as: person) }
        #expect(
            scene.client.send(.delete, "/api/v1/me/connected_apps/\(left.clientID)", token: person.token).status == 204)
        try delete(person)
        // The event of the deletion is erased by then.
        try app.change("DELETE FROM webhook_outbox")
        app.time.advance(by: .seconds(30 * 86_400))
        try app.purge()
        #expect(try app.events(at: shop.id).count == 1)
        #expect(try app.events(at: left.id) == [])
    }

    // MARK: Locks

    /// Two who acted on each other are erased one after the other (accounts §0.4).
    @Test func theAuditLogIsLockedInOneOrder() throws {
        let (person, other) = (try scene.person(), try scene.person("other", email: nil))
        for (about, actor) in [(other, person), (person, other)] {
            try app.change(
                "INSERT INTO audit_log (at, user_id, actor, action, ip) VALUES (?, ?, ?, 'test', '192.0.2.1')",
                app.time.now, about.userID, "user:\(actor.userID)")
        }
        let rows = try app.column("SELECT CAST(id AS CHAR) FROM audit_log WHERE action = 'test' ORDER BY id")
        try delete(person)
        app.time.advance(by: .seconds(30 * 86_400))
        let holder = try app.database.connect()
        try holder.executeScript("START TRANSACTION; SELECT id FROM audit_log WHERE id = \(rows[0]) FOR UPDATE")
        let purge = JobThread { [app] in _ = try app.purge() }
        try app.waitForALockWait()
        let db = try app.database.connect()
        #expect(throws: Never.self) {
            try db.executeScript("SELECT id FROM audit_log WHERE id = \(rows[1]) FOR UPDATE NOWAIT")
        }
        try holder.executeScript("COMMIT")
        #expect(purge.failure == nil)
    }

    // MARK: Nothing is left

    /// Everything that names a person, in lower case.
    private struct Names {
        /// Decimal. Subs in events and numbers in the audit log may stay.
        var ids: [String] = []
        var others: [String] = []
        var digests: [[UInt8]] = []

        mutating func add(_ phone: Phone) {
            ids.append("\(phone.userID)")
            others.append(phone.uuid.lowercased())
            digests += [sha256(phone.token.utf8), sha256(phone.secret.utf8)]
        }
    }

    /// Where a table names somebody: `table.column: name`.
    private func mentions(of names: Names) throws -> Set<String> {
        try app.sql { db in
            var found: Set<String> = []
            for table in try db.query("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'").compactMap({ $0[0] }) {
                let table = String(decoding: table, as: UTF8.self)
                let columns = try db.query("SHOW COLUMNS FROM `\(table)`").map {
                    String(decoding: $0[0] ?? [], as: UTF8.self)
                }
                for row in try db.query("SELECT * FROM `\(table)`") {
                    for (column, value) in zip(columns, row) {
                        guard let value else { continue }
                        let text = String(decoding: value, as: UTF8.self).lowercased()
                        for name in names.ids + names.others where text.contains(name) {
                            found.insert("\(table).\(column): \(name)")
                        }
                        for digest in names.digests where value == digest {
                            found.insert("\(table).\(column): \(digest.hexadecimal)")
                        }
                    }
                }
            }
            return found
        }
    }

    /// A client at an address of its own, on a device that it names in every request.
    private func client(at address: String, claiming device: String) -> Client {
        let client = app.client()
        return Client { request in
            var request = request
            request.remoteAddress = address
            request.headers.append("x-device-uuid", device)
            return client.send(request).response
        }
    }

    @Test func nothingNamesThePurged() throws {
        let (address, claimed) = ("198.51.100.77", "c1a1b0ed-0000-4000-8000-00000000dead")
        let mina = client(at: address, claiming: claimed)
        var names = Names()
        names.others = [address, claimed]
        let shop = try scene.register("Shop", confidential: true, anonymous: true, notified: true)
        try app.change("UPDATE applications SET backchannel_logout_uri = 'https://rp.example/' WHERE id = ?", shop.id)

        // An anonymous account with a consent, swapped into the one that is deleted.
        let anonymous = try mina.bootstrap(101)
        names.add(anonymous)
        let early = try scene.signIn(shop, as: anonymous)
        // The application did this from the person's own address.
        let basic = Base64.encode(Array("\(shop.clientID):\(shop.secret ?? "")".utf8))
        let revoked = mina.send(
            Request(
                method: .post, path: "/oauth/revoke",
                headers: Headers([
                    ("authorization", "Basic \(basic)"), ("content-type", "application/x-www-form-urlencoded"),
                ]),
                body: BufferedBody(Array("token=\(early.refresh)".utf8))))
        #expect(revoked.status == 200, "\(revoked)")
        let person = try Phone(
            mina.send(
                .post, "/api/v1/auth/apple/session",
                app.proof("apple-subject-of-mina", email: "mina@icloud.com").adding([
                    "device_uuid": .string(uuid(102)), "platform": "ios",
                    "full_name": ["given_name": "Wilhelmina", "family_name": "Murray"],
                ])))
        names.add(person)
        names.others += ["apple-subject-of-mina", "mina@icloud.com", "wilhelmina murray"]
        let swap = mina.send(
            .post, "/api/v1/me/anonymous_swap",
            app.proof("apple-subject-of-mina").adding(["provider": "apple", "device_uuid": .string(uuid(101))]),
            token: anonymous.token)
        try #require(swap.status == 200, "\(swap)")
        names.digests.append(sha256((swap["access_token"]?.string ?? "").utf8))

        // What an account has.
        let profile: JSONValue = ["nickname": "Mina from Whitby", "contact_email": "contact-of-mina@example.com"]
        #expect(mina.send(.patch, "/api/v1/me", profile, token: person.token).status == 200)
        let google = app.proof("google-subject-of-mina", of: .google, email: "other-mina@gmail.com")
        #expect(
            mina.send(
                .post, "/api/v1/me/connected_identities", google.adding(["provider": "google"]), token: person.token
            ).status == 200)
        names.others += [
            "mina from whitby", "contact-of-mina@example.com", "google-subject-of-mina", "other-mina@gmail.com",
        ]
        let tokens = try scene.signIn(shop, as: person)
        names.digests.append(sha256(tokens.refresh.utf8))
        let code = try scene.code(shop, as: person)
        names.digests.append(sha256(code.utf8))
        let browser = try scene.signedIn("apple-subject-of-mina", email: "mina@icloud.com")
        names.digests += browser.cookies.values.map { sha256($0.utf8) }.filter { digest in
            (try? app.count("SELECT COUNT(*) FROM web_sessions WHERE digest = ?", digest)) == 1
        }
        let token = mina.send(.post, "/api/v1/me/merge/session-token", [:], token: person.token)["session_token"]
        names.digests.append(sha256((token?.string ?? "").utf8))
        try app.change(
            "UPDATE users SET phone_number = '+44 1947 600', address = '1 Crescent', postal_code = 'YO21' WHERE id = ?",
            person.userID)
        names.others += ["+44 1947 600", "1 crescent", "yo21"]
        try app.change(
            "INSERT INTO agents (id, user_id, public_id, name) VALUES (7, ?, 'agt_minas', 'Agent of Mina')",
            person.userID)
        try app.change(
            """
            INSERT INTO agent_approvals (user_id, agent_id, public_id, display_payload_hash) VALUES (?, 7, 'aar_minas', '')
            """, person.userID)
        names.others += ["agt_minas", "agent of mina", "aar_minas"]
        let stranger = try scene.person("stranger", email: nil)
        try app.change(
            """
            INSERT INTO push_approval_requests (requested_user_id, approved_user_id, expires_at)
            VALUES (?, ?, NOW()), (?, ?, NOW())
            """, person.userID, stranger.userID, stranger.userID, person.userID)
        try app.change("UPDATE applications SET owner_user_id = ? WHERE id = ?", person.userID, shop.id)

        // What it did to others, and what others did.
        let victim = try scene.person("victim", email: nil)
        #expect(
            mina.send(
                .post, "/api/v1/auth/apple/session",
                app.proof("apple-subject-of-mina").adding([
                    "device_uuid": .string(victim.uuid), "platform": "ios", "device_secret": .string(victim.secret),
                ])
            ).status == 200)
        names.others.append(victim.uuid.lowercased())
        let visitor = try scene.anonymous()
        let refused = scene.client.send(
            .post, "/api/v1/me/connected_identities",
            app.proof("apple-subject-of-mina").adding(["provider": "apple"]), token: visitor.token)
        #expect(refused["swap_ticket"] != nil, "\(refused)")

        // A second account, merged into it by an operator, who named its device.
        let second = try Phone(
            mina.send(
                .post, "/api/v1/auth/apple/session",
                app.proof("second-subject-of-mina", email: "second-mina@icloud.com").adding([
                    "device_uuid": .string(uuid(104)), "platform": "ios",
                ])))
        names.add(second)
        names.others += ["second-subject-of-mina", "second-mina@icloud.com"]
        _ = try scene.signIn(shop, as: second)
        let proof = try #require(DeviceUUID(second.uuid))
        _ = try app.operate {
            try app.service.accounts.mergeUsers(
                User.ID(rawValue: Int64(second.userID)), into: User.ID(rawValue: Int64(person.userID)),
                for: .device(proof), .none, in: $0)
        }

        // A third one, which has Google only by then.
        let third = try Phone(
            mina.send(
                .post, "/api/v1/auth/apple/session",
                app.proof("third-subject-of-mina").adding(["device_uuid": .string(uuid(105)), "platform": "ios"])))
        names.add(third)
        try app.change(
            """
            UPDATE identities SET apple_client_id = 'c', apple_token_handle = REPEAT('h', 16), apple_token = 'sealed'
            WHERE sub = 'third-subject-of-mina'
            """)
        let methods = "/api/v1/me/connected_identities"
        let thirdGoogle = app.proof("third-google-of-mina", of: .google).adding(["provider": "google"])
        #expect(mina.send(.post, methods, thirdGoogle, token: third.token).status == 200)
        #expect(mina.send(.delete, methods + "/apple", token: third.token).status == 200)
        names.others.append("third-google-of-mina")
        let unlinked = sha256("third-subject-of-mina".utf8)
        names.digests.append(unlinked)
        let thirdProof = try #require(DeviceUUID(third.uuid))
        _ = try app.operate {
            try app.service.accounts.mergeUsers(
                User.ID(rawValue: Int64(third.userID)), into: User.ID(rawValue: Int64(person.userID)),
                for: .device(thirdProof), .none, in: $0)
        }

        // Apple gave tokens; the server, which has no key of Apple's, keeps them.
        try app.change(
            """
            UPDATE identities SET apple_client_id = 'c', apple_token_handle = REPEAT('h', 16), apple_token = 'sealed'
            WHERE sub = 'apple-subject-of-mina'
            """)
        names.digests.append(sha256("apple-subject-of-mina".utf8))

        let answer = mina.send(.deletion(by: try scene.client.reopen(person)))
        try #require(answer.status == 202, "\(answer)")
        // The relying party cannot be told.
        try app.change("UPDATE applications SET status = 'suspended'")

        // The search finds what is there. Only what a deletion ends at once is gone.
        let ended = [person.uuid, victim.uuid].map { $0.lowercased() }
        let before = try mentions(of: names)
        for name in names.ids + names.others where !ended.contains(name) {
            #expect(before.contains { $0.hasSuffix(": \(name)") }, "\(name) is nowhere")
        }
        #expect(names.digests.count { digest in before.contains { $0.hasSuffix(digest.hexadecimal) } } >= 4)
        #expect(before.contains { $0 == "apple_revocations.sub_digest: \(unlinked.hexadecimal)" })
        for column in [
            "audit_log.ip", "audit_log.user_id", "logout_tokens.sub", "swap_tickets.sub", "login_events.user_id",
            "apple_revocations.sub_digest",
        ] {
            #expect(before.contains { $0.hasPrefix(column + ":") }, "\(column)")
        }

        app.time.advance(by: .seconds(30 * 86_400))
        let audited = try app.count("SELECT COUNT(*) FROM audit_log")
        #expect(try app.purge() == [second.userID, third.userID, person.userID])
        let exempt = names.ids.flatMap {
            ["webhook_outbox.raw_payload: \($0)", "audit_log.actor: \($0)", "audit_log.details: \($0)"]
        }
        // The history of a request keeps the request's own id.
        let kept = exempt + ["agent_approval_history.approval: aar_minas"]
        #expect(try mentions(of: names).subtracting(kept).sorted() == [])

        // The history is as long as it was, and says of others what it said.
        #expect(try app.count("SELECT COUNT(*) FROM audit_log") == audited + 3)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', user_id, action, COALESCE(ip, 'from nowhere')) FROM audit_log
                WHERE user_id IS NOT NULL AND actor = ?
                """, "user:\(person.userID)") == ["\(victim.userID) pak.revoked from nowhere"])
        #expect(try app.count("SELECT COUNT(*) FROM audit_log WHERE user_id = ? AND ip IS NULL", stranger.userID) == 0)
        #expect(scene.client.send(.get, "/api/v1/me", token: stranger.token).status == 200)
        #expect(scene.client.send(.get, "/api/v1/me", token: visitor.token).status == 200)
    }
}
