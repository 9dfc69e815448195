import Accounts
import Database
import HTTP
import JSON
import TestSupport
import Testing
import Time

/// What administrators read as JSON (accounts §4.7).
@Suite struct AdministrationTests {
    let admin: AdministrationScene
    let scene: OAuthScene

    init() throws {
        admin = try AdministrationScene()
        scene = admin.scene
    }

    private var app: TestApp { admin.app }

    // MARK: People

    @Test func peopleAreFoundByEachOfTheirNames() throws {
        let bea = try scene.person("000123.abc.0456", email: "Bea@Example.com")
        let other = try scene.person("other", email: "other@example.com")
        for query in [
            "\(bea.userID)", "000123.abc.0456", bea.uuid, bea.uuid.lowercased(), "bea@example.com", "Bea@Example.com",
            "  bea@example.com ",
        ] { #expect(try admin.find(query) == [bea.userID], "\(query)") }
        for query in [
            "0", "-1", "99999999999999999999", "BEA@", "example.com", "%", "' OR 1=1", "000123.ABC.0456", uuid(0),
        ] {
            #expect(try admin.find(query) == [], "\(query)")
        }
        #expect(admin.read("users?query=")["users"]?.array?.count == 3)
        // Also by an address that they only typed, and by one of a provider.
        try app.change(
            "UPDATE users SET contact_email = 'shared@example.com' WHERE id IN (?, ?)", bea.userID, other.userID)
        #expect(try admin.find("shared@example.com") == [other.userID, bea.userID])
        try app.change("UPDATE users SET login_email = NULL, login_email_authoritative = 0 WHERE id = ?", bea.userID)
        #expect(try admin.find("Bea@Example.com") == [bea.userID])
    }

    @Test func theDeletedAndTheMergedAreFound() throws {
        let (bea, old) = (
            try scene.person("bea", email: "bea@example.com"), try scene.person("old", email: "old@example.com")
        )
        try app.absorb(old.userID, into: bea.userID)
        try app.change("UPDATE users SET deleted_at = NOW(), purge_at = NOW() WHERE id = ?", bea.userID)
        let found = admin.read("users?query=old@example.com")["users"]?.array?.first
        #expect(found?["merged_into"]?.integer == bea.userID)
        let deleted = admin.read("users?query=bea@example.com")["users"]?.array?.first
        #expect(deleted?["deleted_at"]?.string != nil && deleted?["merged_into"] == .null)
    }

    @Test func aPersonIsShownWithEverythingThatBelongsToThem() throws {
        let (bea, old) = (try scene.person("bea"), try scene.person("old", email: "old@example.com"))
        let rp = try scene.register()
        _ = try scene.signIn(rp, as: bea)
        try app.absorb(old.userID, into: bea.userID)
        try app.change(
            """
            INSERT INTO absorbed_subs (application_id, sub, canonical_user_id, via, was_anonymous, occurred_at)
            VALUES (?, '42', ?, 'anonymous_swap', TRUE, '2026-05-12 07:00:00')
            """, rp.id, bea.userID)
        let shown = admin.read("users/\(bea.userID)")
        #expect(shown.status == 200)
        #expect(shown["user"]?["id"]?.integer == bea.userID)
        #expect(shown["identities"]?.array?.map { $0["sub"] } == ["bea"])
        #expect(shown["devices"]?.array?.map { $0["device_uuid"] } == [.string(bea.uuid)])
        #expect(shown["grants"]?.array?.map { $0["client_id"] } == [.string(rp.clientID)])
        #expect(shown["links"]?.array?.map { $0["linked_user_id"]?.integer } == [old.userID])
        #expect(shown["absorbed_subs"]?.array?.map { $0["sub"] } == ["42"])
        #expect(shown["live_paks"] == 1 && shown["web_sessions"] == 0)
        #expect(admin.read("users/\(old.userID)")["user"]?["merged_into"]?.integer == bea.userID)
        for id in ["0", "999", "x", "1x", "01", "-1", "99999999999999999999"] {
            #expect("\(admin.read("users/\(id)"))" == refusal(404, "not_found"), "\(id)")
        }
    }

    @Test func aPersonIsShownWithTheNewestOfEachKind() throws {
        let bea = try scene.person("bea")
        #expect(admin.read("users/\(bea.userID)")["truncated"] == nil)
        try app.change(
            """
            INSERT INTO devices (user_id, device_uuid, platform)
            SELECT ?, CONCAT('00000000-0000-4000-8000-', LPAD(seq, 12, '0')), 'ios' FROM seq_1_to_200
            """, bea.userID)
        let shown = admin.read("users/\(bea.userID)")
        #expect(shown["truncated"] == ["devices"])
        let uuids = shown["devices"]?.array?.compactMap { $0["device_uuid"]?.string } ?? []
        #expect(uuids.count == 200 && uuids.last == "00000000-0000-4000-8000-000000000200")
        #expect(!uuids.contains(bea.uuid))
    }

    // MARK: Lists

    @Test func listsArePagedByTheirKeys() throws {
        let people = try (1...7).map { try scene.person("p\($0)", email: "p\($0)@example.com").userID }
        let survivor = people[0]
        for other in people.dropFirst() { try app.absorb(other, into: survivor) }
        for limit in [1, 2, 3, 100] {
            let users = try admin.pages("users?limit=\(limit)", "users").map { $0["id"]?.integer }
            #expect(users == (people.reversed() + [admin.administrator.userID]))
            let merges = try admin.pages("merges?user_id=\(survivor)&limit=\(limit)", "merges")
            #expect(merges.map { $0["linked_user_id"]?.integer } == people.dropFirst().reversed())
            #expect(try admin.pages("merges?limit=\(limit)", "merges") == merges)
            #expect(try admin.pages("merges?user_id=\(people[3])&limit=\(limit)", "merges").count == 1)
        }
        let merge = try #require(admin.read("merges")["merges"]?.array?.first)
        let shown = admin.read("merges/\(try #require(merge["id"]?.integer))")
        #expect(shown["merge"] == merge)
        #expect(
            shown["primary"]?["id"] == merge["primary_user_id"] && shown["linked"]?["id"] == merge["linked_user_id"])
        #expect("\(admin.read("merges/999"))" == refusal(404, "not_found"))
    }

    /// Swaps and undone merges have no link, merges of old no journal, and many may be of one time.
    @Test func mergesAreListedWithSwapsAndWithWhatWasUndone() throws {
        try app.makeMerges()
        let newestFirst = ["8", "7", "s44", "s43", "6", "s42", "5", "4", "s41", "3"]
        func ids(_ path: String) throws -> [String] {
            try admin.pages(path, "merges").map { merge in
                merge["id"]?.string ?? merge["id"]?.integer.map(String.init) ?? ""
            }
        }
        for limit in [1, 2, 3, 100] {
            #expect(try ids("merges?limit=\(limit)") == newestFirst, "\(limit)")
            let hers = try ids("merges?user_id=101&limit=\(limit)")
            #expect(hers == newestFirst.filter { $0 != "6" }, "\(limit)")
            #expect(try ids("merges?user_id=106&limit=\(limit)") == ["6", "5"])
        }
        let listed = try admin.pages("merges?limit=2", "merges")
        for merge in listed {
            let id = merge["id"]?.string ?? merge["id"]?.integer.map(String.init) ?? ""
            #expect(admin.read("merges/\(id)")["merge"] == merge)
        }
        #expect(
            listed[2]
                == [
                    "id": "s44", "primary_user_id": 101, "linked_user_id": 144, "merged_via": "anonymous_swap",
                    "created_at": "2026-05-04T00:00:00Z", "undo_until": "2026-05-18T00:00:00Z",
                    "undone_at": "2026-05-05T00:00:00Z",
                ])
        #expect(listed[1]["undo_until"] == .null && listed[1]["undone_at"] == .null)
        #expect(listed[0]["undo_until"] == "2026-05-18T00:00:00Z" && listed[0]["undone_at"] == .null)
        #expect(listed[6]["id"] == 5 && listed[6]["undone_at"]?.string != nil)
        // A swap deletes the account that it absorbs.
        let swap = admin.read("merges/s43")
        #expect(swap["primary"]?["id"] == 101 && swap["linked"] == .null)
        #expect(admin.read("merges/5")["linked"]?["merged_into"] == 102)
        for id in ["s8", "s45", "42", "s0", "0", "07", "s07", "+7", "s", "S44"] {
            #expect("\(admin.read("merges/\(id)"))" == refusal(404, "not_found"), "\(id)")
        }
        #expect("\(admin.read("merges?before=s45"))" == refusal(400, "invalid_cursor"))
        // The graph shows only what stands.
        let links = admin.read("users/101")["links"]?.array?.map { $0["id"] }
        #expect(links == [3, 4, 7, 8])
    }

    @Test func applicationsAreListedWithWhatTheOperatorDecidesOn() throws {
        let first = try scene.register("First", confidential: true)
        let second = try scene.register("Second")
        for limit in [1, 2, 100] {
            let listed = try admin.pages("applications?limit=\(limit)", "applications")
            #expect(listed.map { $0["client_id"] } == [.string(second.clientID), .string(first.clientID)])
            #expect(listed.allSatisfy { $0["revision"]?.string?.utf8.count == 43 })
        }
        #expect(!admin.read("applications").text.contains(try #require(first.secret)))
    }

    @Test func eventsAreListedByWhatBecameOfThem() throws {
        let rp = try scene.register()
        try app.change(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, seq, next_attempt_at, delivered_at,
                                        dlq_at, failure_reason)
            SELECT ?, CONCAT('evt_01J00000000000000000000', LPAD(seq, 3, '0')), 'user.merged', '{"secret":"payload"}', seq,
                   IF(seq % 3 = 0, '2026-05-12' + INTERVAL seq DIV 6 SECOND, NULL),
                   IF(seq % 3 = 1, '2026-05-12' + INTERVAL seq DIV 6 SECOND, NULL),
                   IF(seq % 3 = 2, '2026-05-12' + INTERVAL seq DIV 6 SECOND, NULL), IF(seq % 3 = 2, '500', NULL)
            FROM seq_1_to_30
            """, rp.id)
        for (state, rest, isAscending) in [("pending", 0, true), ("delivered", 1, false), ("dead", 2, false)] {
            let numbers = (1...30).filter { $0 % 3 == rest }
            for limit in [1, 3, 100] {
                let events = try admin.pages("webhook_outbox?state=\(state)&limit=\(limit)", "events")
                #expect(events.map { $0["seq"]?.integer } == (isAscending ? numbers : numbers.reversed()), "\(state)")
                #expect(events.allSatisfy { $0["state"] == .string(state) && $0["client_id"] == .string(rp.clientID) })
            }
        }
        #expect(admin.read("webhook_outbox").text == admin.read("webhook_outbox?state=pending").text)
        #expect(!admin.read("webhook_outbox?state=dead").text.contains("payload"))
    }

    @Test func theAuditLogIsFilteredByUserAndAction() throws {
        let bea = try scene.person("bea")
        let all = try admin.pages("audit_log?limit=3", "entries")
        #expect(all.count > 5)
        #expect(all.map { $0["id"]?.integer ?? 0 } == all.map { $0["id"]?.integer ?? 0 }.sorted(by: >))
        let hers = try admin.pages("audit_log?user_id=\(bea.userID)&action=pak.issued&limit=1", "entries")
        #expect(hers.map { $0["user_id"]?.integer } == [bea.userID])
        let issued = try admin.pages("audit_log?action=pak.issued&limit=1", "entries")
        #expect(issued.count == 2 && issued.allSatisfy { $0["action"] == "pak.issued" })
        #expect(try admin.pages("audit_log?action=none&limit=1", "entries") == [])
        #expect(try admin.pages("audit_log?action=%C3%A9&limit=1", "entries") == [])
        let first = try #require(hers.first)
        #expect(first["actor"] == .string("user:\(bea.userID)") && first["ip"] == "192.0.2.7")
        #expect(first["details"]?["device_id"]?.integer == bea.deviceID)
    }

    /// A page may end early, and the list goes on behind it.
    @Test func oneActionAmongManyOfAUserIsFound() throws {
        let bea = try scene.person("bea")
        try app.change(
            """
            INSERT INTO audit_log (at, user_id, actor, action)
            SELECT ?, ?, 'operator', IF(seq = 10, 'grant.revoked', 'tokens.revoked') FROM seq_1_to_2500
            """, app.time.now, bea.userID)
        let path = "audit_log?user_id=\(bea.userID)&action=grant.revoked&limit=5"
        let first = admin.read(path)
        #expect(first["entries"] == [])
        #expect(first["next_cursor"]?.string != nil)
        #expect(try admin.pages(path, "entries").count == 1)
    }

    @Test func cursorsAndFiltersAreChecked() throws {
        for path in [
            "users?before=x", "users?before=", "users?before=-1", "users?before=01", "merges?before=1.5",
            "merges?before=s01", "merges?before=7",
            "applications?before=99999999999999999999", "audit_log?before=%2B1", "webhook_outbox?before=1",
            "webhook_outbox?before=1-", "webhook_outbox?before=-1-1", "webhook_outbox?before=999999999999999-1",
        ] { #expect("\(admin.read(path))" == refusal(400, "invalid_cursor"), "\(path)") }
        for path in [
            "users?limit=0", "users?limit=x", "merges?user_id=x", "audit_log?user_id=1x", "webhook_outbox?state=polled",
            "webhook_outbox?state=", "merges?limit=-1",
        ] { #expect("\(admin.read(path))" == refusal(400, "invalid_request"), "\(path)") }
    }

    // MARK: Keys and numbers

    @Test func keysAreShownWithoutTheirPrivateParts() throws {
        let shown = admin.read("keys")
        let keys = try #require(shown["signing_keys"]?.array)
        #expect(keys.map { $0["state"] } == ["active"])
        #expect(keys[0]["public_key"]?["kid"] == keys[0]["kid"])
        for member in ["d", "p", "q"] { #expect(keys[0]["public_key"]?[member] == nil) }
        #expect(!shown.text.contains("PRIVATE"))
    }

    @Test func theOverviewCountsDays() throws {
        _ = try scene.signedIn("bea")
        let today = admin.read("overview")
        #expect(today["users"]?["identified"] == 2 && today["users"]?["anonymous"] == 0)
        let days = try #require(today["days"]?.array)
        #expect(days.count == 30)
        #expect(days[29]["new_users"] == 2)
        #expect(days[29]["sign_ins"] == 2)
        #expect(days[29]["refused_sign_ins"] == 0)
        #expect(days[29]["day"]?.string == String(app.time.now.iso8601.prefix(10)))
        #expect(days[28]["new_users"] == 0)
        // What is over was counted by clean-up, and is not counted again; what it counted before that is no end of a day.
        #expect(try countDays() == 30)
        _ = try scene.signedIn("bea")
        app.time.advance(by: .seconds(86_400))
        #expect(admin.read("overview")["days"]?.array?[28]["sign_ins"] == 3)
        #expect(try countDays() == 2)
        let tomorrow = try #require(admin.read("overview")["days"]?.array)
        #expect(tomorrow[28]["new_users"] == 2 && tomorrow[28]["sign_ins"] == 3)
        #expect(tomorrow[29]["new_users"] == 0)
        try app.change("DELETE FROM login_events")
        #expect(admin.read("overview")["days"]?.array?[28] == tomorrow[28])
    }

    /// What `merganserctl gc` does.
    private func countDays() throws -> Int {
        try Accounts.countDays(
            Database(app.database.options), at: app.time.clock, from: Origin(requestID: "operator", address: ""))
    }

    /// A look counts a bounded number of rows, however many people there are and whatever happened today.
    @Test func aLookAtTheOverviewCountsNoFurtherThanItHasTo() throws {
        let meter = try ReadMeter(app)
        func rows() throws -> Int {
            let measured = try meter.measure {
                $0.send(.get, "/api/v1/admin/overview", token: admin.administrator.token)
            }
            #expect(measured.answer.status == 200)
            return measured.cost.rowsRead
        }
        func grow(_ first: Int, _ last: Int) throws {
            try app.change(
                """
                INSERT INTO users (anonymous, purge_at, deleted_at) SELECT seq % 2, ?, ? FROM seq_1_to_60000
                WHERE seq BETWEEN ? AND ?
                """, app.time.now, app.time.now, first, last)
            try app.change(
                """
                INSERT INTO login_events (user_id, event, created_at) SELECT ?, 'session', ? FROM seq_1_to_60000
                WHERE seq BETWEEN ? AND ?
                """, admin.administrator.userID, app.time.now, first, last)
        }
        try grow(1, 24_000)
        let small = try rows()
        try grow(24_001, 60_000)
        let large = try rows()
        #expect(large - small < 100, "\(small) and \(large) rows")
        #expect(admin.read("overview")["users"]?["anonymous"] == 10_000, "at least")
        #expect(try countDays() == 30)
        let counted = admin.read("overview")
        #expect(counted["users"]?["anonymous"] == 30_000 && counted["users"]?["deleted"] == 60_000)
        #expect(counted["users"]?["identified"] == 30_001)
        #expect(counted["days"]?.array?.last?["sign_ins"] == 60_001)
    }

    // MARK: Traces and secrets

    @Test func everyLookIsAudited() throws {
        let bea = try scene.person("bea")
        func looks() throws -> [String] {
            try app.column(
                """
                SELECT CONCAT_WS(' ', COALESCE(user_id, '-'), actor, JSON_VALUE(details, '$.resource')) FROM audit_log
                WHERE action = 'administration.read' ORDER BY id
                """)
        }
        for path in [
            "overview", "users?query=bea@example.com", "users/\(bea.userID)", "merges", "applications",
            "webhook_outbox",
            "keys", "audit_log?user_id=\(bea.userID)",
        ] { #expect(admin.read(path).status == 200, "\(path)") }
        let actor = "user:\(admin.administrator.userID)"
        #expect(
            try looks() == [
                "- \(actor) overview", "- \(actor) users", "\(bea.userID) \(actor) users", "- \(actor) merges",
                "- \(actor) applications", "- \(actor) webhook_outbox", "- \(actor) keys",
                "\(bea.userID) \(actor) audit_log",
            ])
        // A search is no place for an address that a purge would have to find.
        #expect(
            try app.count("SELECT COUNT(*) FROM audit_log WHERE details LIKE '%example.com%'") == 0)
        _ = admin.read("users/999")
        _ = admin.client.send(.head, "/api/v1/admin/users", token: admin.administrator.token)
        #expect(try looks().count == 8)
    }

    @Test func noAnswerHasASecret() throws {
        let bea = try scene.person("bea")
        let rp = try scene.register(confidential: true)
        let tokens = try scene.signIn(rp, as: bea)
        _ = try scene.signedIn("bea")
        let secrets = [
            bea.token, bea.secret, tokens.access, tokens.refresh, try #require(rp.secret), admin.administrator.token,
        ]
        // No digest, either.
        let digests = try app.column(
            """
            SELECT LOWER(HEX(digest)) FROM paks UNION SELECT LOWER(HEX(secret_digest)) FROM devices
            UNION SELECT LOWER(HEX(secret_digest)) FROM applications UNION SELECT LOWER(HEX(digest)) FROM web_sessions
            """
        ).filter { $0 != "NULL" }
        for path in [
            "overview", "users", "users/\(bea.userID)", "merges", "applications", "webhook_outbox", "keys", "audit_log",
        ] {
            let answer = admin.read(path)
            #expect(answer.status == 200 && answer.header("Cache-Control") == "no-store")
            for secret in secrets { #expect(!answer.text.contains(secret), "\(path)") }
            for digest in digests { #expect(!answer.text.lowercased().contains(digest), "\(path)") }
        }
        // What a sign-in is matched by is never shown.
        try app.change("UPDATE users SET login_email = 'hidden@example.com' WHERE id = ?", bea.userID)
        #expect(try admin.find("hidden@example.com") == [bea.userID])
        for path in ["users", "users/\(bea.userID)"] { #expect(!admin.read(path).text.contains("hidden@")) }
    }
}
