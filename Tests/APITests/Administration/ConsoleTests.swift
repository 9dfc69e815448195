import HTTP
import IdentityTokens
import JSON
import TestSupport
import Testing
import Time

@testable import API

/// The pages of administration (accounts §4.7).
@Suite struct ConsoleTests {
    let scene: OAuthScene
    let browser: TestBrowser
    let administrator: Int

    init() throws {
        scene = try OAuthScene()
        browser = try scene.signedIn("administrator", email: "admin@example.com")
        administrator = try scene.app.count("SELECT MAX(id) FROM users")
        try scene.app.change("UPDATE users SET role = 'admin' WHERE id = ?", administrator)
    }

    private var app: TestApp { scene.app }

    /// An administrator who signed in too long ago for changes.
    private func wait() { app.time.advance(by: .seconds(901)) }

    private func role(of phone: Phone) throws -> [String] {
        try app.column("SELECT role FROM users WHERE id = ?", phone.userID)
    }

    // MARK: Signing in

    @Test func whoeverIsSignedOutSignsInAndComesBack() throws {
        let stranger = TestBrowser(app)
        stranger.open("/admin/users?query=bea%40example.com")
        #expect(stranger.path.hasPrefix("/oauth/login?request="))
        #expect(stranger.heading == "Sign in")
        try stranger.signIn(as: "administrator", email: "admin@example.com")
        #expect(stranger.answer.status == 200)
        #expect(stranger.path == "/admin/users?query=bea%40example.com")
    }

    /// What is in the address gets into a header field.
    @Test func noAddressLeadsElsewhere() throws {
        for (path, back) in [
            ("/admin/applications/a\r\nX-Evil: 1", "/admin/applications/a%0D%0AX-Evil%3A%201"),
            ("/admin/users/\u{e9}?query=a b", "/admin/users/%C3%A9"),
            ("/admin/users?query=\(String(repeating: "x", count: 1000))", "/admin/users"),
            ("/admin?x=//evil.example", "/admin?x=//evil.example"),
        ] {
            let stranger = TestBrowser(app)
            stranger.open(path)
            try stranger.signIn(as: "administrator", email: "admin@example.com")
            #expect(stranger.path == back, "\(path)")
        }
    }

    @Test func aSignInOfSomebodyElseIsRefused() throws {
        let other = try scene.signedIn("bea")
        let page = other.open("/admin")
        #expect(page.status == 403)
        #expect(other.heading == "This page is for administrators")
        try app.change("UPDATE users SET role = 'developer'")
        #expect(other.open("/admin").status == 403)
        #expect(browser.open("/admin").status == 403)
    }

    // MARK: Pages

    @Test(arguments: ["en", "ko"]) func everyPageIsShown(language: String) throws {
        let bea = try scene.person("bea")
        let rp = try scene.register(confidential: true)
        let tokens = try scene.signIn(rp, as: bea)
        let old = try scene.person("old", email: "old@example.com")
        try app.absorb(old.userID, into: bea.userID)
        try app.change(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, seq, dlq_at, failure_reason)
            VALUES (?, 'evt_01J00000000000000000000001', 'user.merged', '{"secret":"payload"}', 1, NOW(), '500')
            """, rp.id)
        let secrets = [bea.token, bea.secret, tokens.access, tokens.refresh, try #require(rp.secret), "\"payload\""]
        for (path, text) in [
            ("/admin", "30"), ("/admin/users", "bea@example.com"),
            ("/admin/users?query=\(bea.userID)", "bea@example.com"),
            ("/admin/users/\(bea.userID)", rp.clientID), ("/admin/merges", "t1_device_link"),
            ("/admin/merges/1", "old@example.com"),
            ("/admin/applications", rp.clientID), ("/admin/applications/\(rp.clientID)", "com.example.shop://callback"),
            ("/admin/webhook_outbox?state=dead", "user.merged"), ("/admin/keys", "<code"),
            ("/admin/audit_log?user_id=\(bea.userID)&action=pak.issued", "pak.issued"),
        ] {
            let page = browser.send(.get, path, headers: [("accept-language", language)])
            #expect(page.status == 200, "\(path)")
            #expect(page.text.contains(text), "\(path)")
            #expect(page.header("Content-Language") == language)
            #expect(page.header("Cache-Control") == "no-store" && page.header("Referrer-Policy") == "no-referrer")
            #expect(page.header("Content-Security-Policy")?.contains("default-src 'none'") == true)
            for secret in secrets { #expect(!page.text.contains(secret), "\(path)") }
        }
        for path in ["/admin/users/999", "/admin/merges/999", "/admin/applications/none", "/admin/users/x"] {
            #expect(browser.open(path).status == 404, "\(path)")
        }
        for path in [
            "/admin/users?before=x", "/admin/merges?order=x", "/admin/audit_log?user_id=x",
            "/admin/webhook_outbox?state=x",
        ] {
            #expect(browser.open(path).status == 400, "\(path)")
        }
    }

    /// Whatever people, applications and receivers call themselves.
    @Test func hostileTextStaysText() throws {
        let bea = try scene.person("bea")
        let rp = try scene.register(confidential: true)
        _ = try scene.signIn(rp, as: bea)
        let hostile = #""'><script>alert(1)</script><svg onload=alert(1)>\u{202E}"#
        try app.change(
            """
            UPDATE users SET name = ?, nickname = ?, contact_email = ? WHERE id = ?
            """, hostile, hostile, hostile, bea.userID)
        try app.change("UPDATE identities SET email = ?, sub = ? WHERE user_id = ?", hostile, hostile, bea.userID)
        try app.change("UPDATE applications SET name = ?, webhook_url = ? WHERE id = ?", hostile, hostile, rp.id)
        try app.change(
            """
            INSERT INTO audit_log (at, user_id, actor, action, details)
            VALUES (NOW(), ?, 'operator', 'test', JSON_OBJECT('name', ?))
            """, bea.userID, hostile)
        try app.change(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, seq, dlq_at, failure_reason)
            VALUES (?, 'evt_01J00000000000000000000001', 'user.merged', '{}', 1, NOW(), '<script>')
            """, rp.id)
        let query = String(decoding: encoded([("query", hostile)]), as: UTF8.self)
        let action = String(decoding: encoded([("action", hostile)]), as: UTF8.self)
        for path in [
            "/admin/users", "/admin/users?\(query)", "/admin/users/\(bea.userID)", "/admin/applications",
            "/admin/applications/\(rp.clientID)", "/admin/webhook_outbox?state=dead", "/admin/audit_log",
            "/admin/audit_log?\(action)",
        ] {
            let page = browser.send(.get, path)
            #expect(page.status == 200, "\(path)")
            #expect(!page.text.contains("<script") && !page.text.contains("onload=alert(1)>"), "\(path)")
        }
    }

    @Test func listsGoOnByLinks() throws {
        try app.change("INSERT INTO users (name) SELECT CONCAT('Person ', seq) FROM seq_1_to_120")
        browser.open("/admin/users")
        var names: [String] = []
        while true {
            names += browser.answer.text.matches(of: /Person (\d+)</).map { String($0.1) }
            guard let next = browser.links.first(where: { $0.contains("before=") }) else { break }
            browser.open(next)
        }
        #expect(names == (1...120).reversed().map(String.init))
    }

    @Test(arguments: [
        "/admin/audit_log?user_id=&action=sorted", "/admin/audit_log?user_id=1000&action=sorted",
        "/admin/merges?user_id=", "/admin/merges?user_id=1000",
    ])
    func listsAreSortedByLinks(path: String) throws {
        try app.change("INSERT INTO users (id) SELECT seq FROM seq_1000_to_1120")
        try app.change(
            """
            INSERT INTO audit_log (at, user_id, actor, action, request_id)
            SELECT NOW(3), 1000, 'operator', 'sorted', CONCAT('req-', seq) FROM seq_1_to_120
            """)
        try app.change(
            """
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key)
            SELECT 1000, seq, 'session_token', CONCAT('st:', seq) FROM seq_1001_to_1120
            """)
        func pages(_ first: String) -> [String] {
            browser.open(first)
            var pages: [String] = []
            while true {
                pages += browser.answer.text.matches(of: /req-\d+|Merge \d+</).map { String($0.0) }
                guard let next = browser.links.first(where: { $0.contains("before=") }) else { return pages }
                browser.open(next)
            }
        }
        let newest = pages(path)
        browser.open(path)
        let oldest = pages(try #require(browser.links.first { $0.contains("order=oldest") }))
        #expect(newest.count == 120 && oldest == newest.reversed())
    }

    /// A page has the newest of each kind, and says where the rest is.
    @Test func aPersonWithMuchIsShownInPart() throws {
        let bea = try scene.person("bea")
        func page() -> String { browser.open("/admin/users/\(bea.userID)").text }
        #expect(!page().contains("merganserctl user show") && !page().contains("merges?user_id="))
        try app.change(
            """
            INSERT INTO devices (user_id, device_uuid, platform)
            SELECT ?, CONCAT('00000000-0000-4000-8000-', LPAD(seq, 12, '0')), 'ios' FROM seq_1_to_21
            """, bea.userID)
        try app.change("INSERT INTO users (id) SELECT 1000 + seq FROM seq_1_to_21")
        try app.change(
            """
            INSERT INTO identity_links (primary_user_id, linked_user_id, merged_via, idempotency_key)
            SELECT ?, 1000 + seq, 'session_token', CONCAT('st:', seq) FROM seq_1_to_21
            """, bea.userID)
        let text = page()
        #expect(text.contains("merganserctl user show"))
        #expect(text.contains("000000000021") && text.contains("000000000002") && !text.contains("000000000001"))
        #expect(text.contains("<a href=\"/admin/users/1021\"") && !text.contains("<a href=\"/admin/users/1001\""))
        let rest = try #require(browser.links.first { $0.contains("merges?user_id=") })
        #expect(browser.open(rest).text.contains("<a href=\"/admin/users/1001\""))
    }

    /// Nothing counts them further, so the page does not pretend to know.
    @Test(arguments: [(9_999, ">9,999<"), (10_001, ">10,000+<")]) func manyDeadEventsAreNotCounted(
        count: Int, shown: String
    ) throws {
        let rp = try scene.register()
        try app.change(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, seq, dlq_at, failure_reason)
            SELECT ?, CONCAT('evt_', LPAD(seq, 26, '0')), 'user.merged', '{}', seq, NOW(), '500' FROM seq_1_to_20000
            WHERE seq <= ?
            """, rp.id, count)
        #expect(browser.open("/admin").text.contains(shown))
    }

    @Test func everyLookIsAudited() throws {
        let bea = try scene.person("bea")
        let old = try scene.person("old", email: "old@example.com")
        try app.absorb(old.userID, into: bea.userID)
        let rp = try scene.register()
        for path in [
            "/admin", "/admin/users?query=bea@example.com", "/admin/users/\(bea.userID)", "/admin/keys",
            "/admin/merges", "/admin/merges/1", "/admin/applications", "/admin/applications/\(rp.clientID)",
        ] {
            #expect(browser.open(path).status == 200)
        }
        #expect(browser.open("/admin/merges/99").status == 404)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', COALESCE(user_id, '-'), actor, details) FROM audit_log
                WHERE action = 'administration.read' ORDER BY id
                """) == [
                    #"- user:\#(administrator) {"resource":"overview"}"#,
                    #"- user:\#(administrator) {"resource":"users"}"#,
                    #"\#(bea.userID) user:\#(administrator) {"resource":"users"}"#,
                    #"- user:\#(administrator) {"resource":"keys"}"#,
                    #"- user:\#(administrator) {"resource":"merges"}"#,
                    #"- user:\#(administrator) {"resource":"merges","id":"1"}"#,
                    #"- user:\#(administrator) {"resource":"applications"}"#,
                    #"- user:\#(administrator) {"resource":"applications","id":"\#(rp.clientID)"}"#,
                ])
    }

    /// The page of a merge says what an undo would do, and of one without journal that there is none.
    @Test func mergesAndSwapsSayWhetherTheyCanBeUndone() throws {
        try app.makeMerges()
        let list = browser.open("/admin/merges").text
        #expect(list.contains("<dt>Can be undone until</dt><dd><time datetime=\"2026-05-18T00:00:00Z\">"))
        #expect(list.contains("<dt>Undone at</dt><dd><time datetime=\"2026-05-05T00:00:00Z\">"))
        #expect(list.contains("<dd>cannot be undone</dd>"))
        for id in ["s43", "s44", "5"] {
            #expect(list.contains("<a href=\"/admin/merges/\(id)\">"), "\(id)")
            #expect(browser.open("/admin/merges/\(id)").status == 200, "\(id)")
            #expect(browser.heading == "Merge \(id)")
        }
        let old = browser.open("/admin/merges/3")
        #expect(old.text.contains("Nothing was kept that would be needed to undo it."))
        #expect(!old.text.contains("/undo\""))
        try app.expectUnchanged {
            #expect(browser.send(.post, "/admin/merges/3/undo", [("token", "x")]).status == 403)
        }
        #expect(browser.open("/admin/merges/s3").status == 404)
    }

    // MARK: Changes

    @Test func aRoleIsChanged() throws {
        let bea = try scene.person("bea")
        let path = "/admin/users/\(bea.userID)"
        browser.open(path)
        try browser.submit("\(path)/role", ["role": "developer"])
        #expect(browser.path == "\(path)?done=1" && browser.answer.status == 200)
        #expect(browser.answer.text.contains("role=\"status\""))
        #expect(try role(of: bea) == ["developer"])
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', user_id, actor, details) FROM audit_log WHERE action = 'user.role_changed'")
                == [#"\#(bea.userID) user:\#(administrator) {"from":"user","to":"developer"}"#])
        browser.open(path)
        #expect(try browser.submit("\(path)/role", ["role": "king"]).status == 400)
        browser.open(path)
        #expect(try browser.submit("\(path)/role", ["role": nil]).status == 400)
        #expect(try role(of: bea) == ["developer"])
    }

    /// Its sessions and devices are the survivor's: "Done" would be untrue.
    @Test func anAbsorbedAccountIsNotChanged() throws {
        let (bea, old) = (try scene.person("bea"), try scene.person("old", email: "old@example.com"))
        let path = "/admin/users/\(old.userID)"
        browser.open(path)
        let (role, sessions) = (
            try browser.fields(of: "\(path)/role"), try browser.fields(of: "\(path)/revoke_sessions")
        )
        try app.absorb(old.userID, into: bea.userID)
        try app.expectUnchanged {
            #expect(browser.send(.post, "\(path)/role", role + [("role", "admin")]).status == 400)
            #expect(browser.send(.post, "\(path)/revoke_sessions", sessions).status == 400)
        }
        browser.open(path)
        #expect(!browser.answer.text.contains("\(path)/role") && !browser.answer.text.contains("/revoke_sessions"))
    }

    @Test func aDeletedPersonIsRestored() throws {
        let bea = try scene.person("bea")
        let path = "/admin/users/\(bea.userID)"
        browser.open(path)
        #expect(!browser.answer.text.contains("\(path)/restore"))
        #expect(app.client().send(.delete, "/api/v1/me", token: bea.token).status == 202)
        browser.open(path)
        #expect(!browser.answer.text.contains("\(path)/role"))
        try browser.submit("\(path)/restore")
        #expect(browser.path == "\(path)?done=1" && browser.answer.text.contains("\(path)/role"))
        #expect(try app.count("SELECT COUNT(*) FROM users WHERE deleted_at IS NOT NULL") == 0)
        #expect(
            try app.column("SELECT actor FROM audit_log WHERE action = 'user.restored'") == ["user:\(administrator)"])
    }

    @Test func aPersonIsCutOff() throws {
        let bea = try scene.person("bea")
        let rp = try scene.register(confidential: true)
        let tokens = try scene.signIn(rp, as: bea)
        let hers = try scene.signedIn("bea")
        let anonymous = try scene.anonymous()
        #expect(scene.registerForPush(bea).status == 204)
        try app.change(
            """
            INSERT INTO push_approval_requests (requested_user_id, approved_user_id, status, expires_at, completed_at)
            VALUES (?, NULL, 'pending', NOW(), NULL), (?, ?, 'approved', NOW(), NULL), (?, ?, 'approved', NOW(), NOW())
            """, bea.userID, bea.userID, bea.userID, bea.userID, bea.userID)
        try app.change("UPDATE applications SET backchannel_logout_uri = 'https://rp.example/out'")
        let path = "/admin/users/\(bea.userID)"
        let agent = try app.client().agent(of: bea, in: app)
        let approval = try app.client().ask(agent)
        let token = app.client().send(.post, "/api/v1/me/merge/session-token", [:], token: bea.token)
        #expect(token["session_token"]?.string != nil, "\(token)")
        try app.change(
            """
            INSERT INTO merge_otps (requester_id, target_key, code_mac, expires_at)
            VALUES (?, '', '', ? + INTERVAL 5 MINUTE)
            """, bea.userID, app.time.now)
        browser.open(path)
        try browser.submit("\(path)/revoke_sessions")
        #expect(browser.path == "\(path)?done=1")

        #expect(try app.count("SELECT COUNT(*) FROM merge_tokens WHERE used_at IS NULL") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM merge_otps WHERE used_at IS NULL") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM merge_tokens WHERE copy_expires_at IS NOT NULL") == 0)
        #expect(app.client().send(try agent.poll(approval.id)).error == "invalid_token")
        #expect(
            try app.column("SELECT event FROM agent_approval_history ORDER BY id") == ["requested", "cancelled"])
        #expect(app.client().send(.get, "/api/v1/me", token: bea.token).error == "invalid_token")
        #expect(app.client().send(.get, "/oauth/userinfo", token: tokens.access).error == "invalid_token")
        #expect(scene.refresh(tokens.refresh, by: rp).error == "invalid_grant")
        hers.open("/session/logout")
        #expect(hers.heading == "You are signed out")
        let reopened = app.client().send(
            .post, "/api/v1/devices",
            ["device_uuid": .string(bea.uuid), "platform": "ios", "device_secret": .string(bea.secret)])
        #expect(reopened.error == "invalid_device_secret")
        #expect(
            try app.column(
                "SELECT JSON_VALUE(raw_payload, '$.data.reason') FROM webhook_outbox WHERE event_type = 'token.revoked'"
            )
                == ["operator"])
        #expect(try app.count("SELECT COUNT(*) FROM logout_tokens WHERE sid IS NULL") == 1)
        #expect(try app.count("SELECT COUNT(*) FROM grants WHERE revoked_at IS NULL") == 1)
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', user_id, actor, details) FROM audit_log WHERE action = 'sessions.revoked'")
                == [
                    #"\#(bea.userID) user:\#(administrator) "#
                        + #"{"web_sessions":1,"grants":1,"agents":1,"reason":"operator"}"#
                ])
        #expect(try app.count("SELECT COUNT(*) FROM push_tokens") == 0)
        #expect(
            try app.column("SELECT status FROM push_approval_requests ORDER BY id") == ["denied", "denied", "approved"])
        // Consent stays: who signs in again is not asked.
        let again = try app.client().signIn(app.proof("bea", email: "bea@example.com"), on: 77)
        #expect(again.userID == bea.userID)
        #expect(scene.authorize(rp, as: again)["code"]?.string != nil)

        // The secret is all that an anonymous account has.
        browser.open("/admin/users/\(anonymous.userID)")
        try browser.submit("/admin/users/\(anonymous.userID)/revoke_sessions")
        #expect(app.client().send(.get, "/api/v1/me", token: anonymous.token).error == "invalid_token")
        _ = try app.client().reopen(anonymous)
    }

    /// Whoever approves a new application judges each of these.
    @Test func aNewApplicationIsShownWithAllThatIsJudged() throws {
        let rp = try scene.register("Shop")
        try app.change(
            """
            UPDATE applications SET status = 'pending', redirect_uris = '["https://shop.example/cb"]',
                   post_logout_redirect_uris = '["https://shop.example/bye"]', allowed_scopes = 'openid email',
                   app_link_url = 'https://shop.example/app'
            WHERE id = ?
            """, rp.id)
        let text = browser.open("/admin/applications/\(rp.clientID)").text
        for value in [
            "Shop", "https://shop.example/cb", "https://shop.example/bye", "openid email", "https://shop.example/app",
        ] { #expect(text.contains(">\(value)<"), "\(value)") }
    }

    @Test func anApplicationIsApprovedSuspendedAndFlagged() throws {
        let rp = try scene.register("Shop")
        try app.change("UPDATE applications SET status = 'pending' WHERE id = ?", rp.id)
        let path = "/admin/applications/\(rp.clientID)"
        func state() throws -> [String] {
            try app.column(
                """
                SELECT CONCAT_WS(' ', status, allow_anonymous_grants, first_party, linked_sub_details) FROM applications
                WHERE id = ?
                """, rp.id)
        }
        browser.open(path)
        // Somebody changes it meanwhile: what was not looked at is not approved.
        try app.change("UPDATE applications SET name = 'Bank' WHERE id = ?", rp.id)
        try app.change(
            "UPDATE applications SET pending_changes = '{\"name\":\"Your bank\"}' WHERE id = ?", rp.id)
        #expect(try browser.submit("\(path)/approve").status == 400)
        #expect(browser.heading == "This could not be done")
        #expect(try state() == ["pending 0 0 0"])
        browser.open(path)
        #expect(browser.answer.text.contains("Your bank"))
        try browser.submit("\(path)/approve")
        #expect(try state() == ["active 0 0 0"])
        #expect(browser.heading == "Your bank")

        try browser.submit("\(path)/flags", ["allow_anonymous_grants": "1", "linked_sub_details": "1"])
        #expect(try state() == ["active 1 0 1"])
        try browser.submit("\(path)/flags", ["first_party": "1"])
        #expect(try state() == ["active 0 1 0"])
        try browser.submit("\(path)/suspend")
        #expect(try state() == ["suspended 0 1 0"])
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', actor, action) FROM audit_log WHERE action LIKE 'application.%' ORDER BY id")
                == ["application.approved", "application.updated", "application.updated", "application.updated"].map {
                    "user:\(administrator) \($0)"
                })
    }

    /// By the person who survives, with a token of the account that is absorbed. The merge gets the id 1.
    private func merge(_ absorbed: Phone, into survivor: Phone) throws {
        let token = app.client().send(.post, "/api/v1/me/merge/session-token", [:], token: absorbed.token)
        let proof = try #require(token["session_token"]?.string)
        let merged = app.client().send(
            .post, "/api/v1/me/merge", ["target_session_token": .string(proof)], token: survivor.token)
        try #require(merged["identity_link_id"] == 1, "\(merged)")
    }

    @Test func aMergeIsUndone() throws {
        let (bea, old) = (try scene.person("bea"), try scene.person("old", email: "old@example.com"))
        try merge(old, into: bea)
        let path = "/admin/merges/1"
        browser.open(path)
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 1, "a look undoes nothing")
        #expect(!browser.answer.text.contains("keep_changed"))
        let form = try browser.fields(of: "\(path)/undo")
        try browser.submit("\(path)/undo")
        #expect(browser.path == "\(path)?done=1" && browser.answer.text.contains("role=\"status\""))
        #expect(browser.answer.text.contains("<dt>Undone at</dt>"))
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 0)
        // The same form again.
        try app.expectUnchanged(butFor: ["audit_log"]) {
            let again = browser.send(.post, "\(path)/undo", form)
            #expect(again.status == 409 && again.text.contains("role=\"alert\""))
            #expect(again.text.contains("It was undone."))
            let json = browser.send(.post, "\(path)/undo", form, headers: [("accept", "application/json")])
            #expect("\(json)" == "409 {\"error\":\"undo_not_possible\",\"reason\":\"already_undone\"}")
        }
    }

    @Test func whatWasChangedSinceStandsInTheWayOfAnUndo() throws {
        let old = try scene.person("old", email: "old@example.com")
        try merge(old, into: try scene.person("bea"))
        let device = try app.count("SELECT id FROM devices WHERE device_uuid = ?", old.uuid)
        try app.change("DELETE FROM devices WHERE id = ?", device)
        let path = "/admin/merges/1"
        let text = browser.open(path).text
        #expect(text.contains("Device <code dir=\"ltr\">\(device)</code>") && text.contains("It is gone."))
        try app.expectUnchanged(butFor: ["audit_log"]) {
            let refused = try browser.submit("\(path)/undo")
            #expect(refused.status == 409)
            #expect(browser.alert == "Nothing was undone. Look at what stands in the way.")
        }
        try browser.submit("\(path)/undo", ["keep_changed": "1"])
        #expect(browser.path == "\(path)?done=1")
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 0)
    }

    @Test func anUndoNeedsAFreshSignIn() throws {
        let (bea, old) = (try scene.person("bea"), try scene.person("old", email: "old@example.com"))
        try merge(old, into: bea)
        let path = "/admin/merges/1"
        wait()
        browser.open(path)
        try browser.submit("\(path)/undo")
        #expect(browser.path.hasPrefix("/oauth/login?request="))
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 1)
    }

    @Test func anEventIsSentAgain() throws {
        let rp = try scene.register()
        try app.change("UPDATE applications SET webhook_url = 'https://rp.example/hook' WHERE id = ?", rp.id)
        let event = "evt_01J00000000000000000000001"
        try app.change(
            """
            INSERT INTO webhook_outbox (application_id, event_id, event_type, raw_payload, seq, dlq_at, failure_reason)
            VALUES (?, ?, 'user.merged', '{}', 1, NOW(), '500')
            """, rp.id, event)
        browser.open("/admin/webhook_outbox?state=dead")
        try browser.submit("/admin/webhook_outbox/\(event)/replay")
        #expect(browser.path == "/admin/webhook_outbox?state=dead&done=1")
        #expect(try app.count("SELECT COUNT(*) FROM webhook_outbox WHERE is_replayed AND dlq_at IS NULL") == 1)
        #expect(
            try app.column("SELECT actor FROM audit_log WHERE action = 'webhook.replayed'") == ["user:\(administrator)"]
        )
        // Without a receiver there is nowhere to send it to.
        browser.open("/admin/webhook_outbox")
        try app.change("UPDATE applications SET webhook_url = NULL")
        #expect(try browser.submit("/admin/webhook_outbox/\(event)/replay").status == 400)
    }

    @Test func aReceiverIsEnabled() throws {
        let rp = try scene.register("Shop")
        let path = "/admin/applications/\(rp.clientID)"
        try app.change("UPDATE applications SET webhook_url = 'https://rp.example/hook' WHERE id = ?", rp.id)
        #expect(!browser.open(path).text.contains("\(path)/webhook_enable"))
        try app.change(
            "UPDATE applications SET webhook_disabled_at = '2026-05-12 06:59:00' WHERE id = ?", rp.id)
        #expect(browser.open(path).text.contains("2026-05-12T06:59:00Z"))
        try browser.submit("\(path)/webhook_enable")
        #expect(browser.path == "\(path)?done=1" && !browser.answer.text.contains("/webhook_enable"))
        #expect(try app.count("SELECT COUNT(*) FROM applications WHERE webhook_disabled_at IS NOT NULL") == 0)
        #expect(
            try app.column("SELECT CONCAT_WS(' ', actor, details) FROM audit_log WHERE action = 'webhook.enabled'")
                == [#"user:\#(administrator) {"client_id":"\#(rp.clientID)"}"#])
    }

    // MARK: What guards changes

    @Test func aChangeNeedsAFreshSignIn() throws {
        let bea = try scene.person("bea")
        let path = "/admin/users/\(bea.userID)"
        app.time.advance(by: .seconds(900))
        browser.open(path)
        try browser.submit("\(path)/role", ["role": "developer"])
        #expect(try role(of: bea) == ["developer"])
        app.time.advance(by: .seconds(1))
        browser.open(path)
        #expect(browser.answer.status == 200)
        try browser.submit("\(path)/role", ["role": "admin"])
        // The session that is too old is not offered again.
        #expect(browser.path.hasPrefix("/oauth/login?request="))
        #expect(browser.heading == "Sign in")
        #expect(try role(of: bea) == ["developer"])
        let trip = try browser.setOut(to: .google)
        #expect(trip.parameters["prompt"] == "select_account")
        browser.open(browser.path)
        try browser.signIn(as: "administrator", email: "admin@example.com")
        #expect(browser.path == path)
        try browser.submit("\(path)/role", ["role": "admin"])
        #expect(try role(of: bea) == ["admin"])
    }

    @Test func aFormNeedsTheTokenOfThisSessionAndForm() throws {
        let bea = try scene.person("bea")
        let path = "/admin/users/\(bea.userID)"
        browser.open(path)
        let own = try browser.fields(of: "\(path)/role")
        let others = try browser.fields(of: "\(path)/revoke_sessions")
        let otherPage = "/admin/users/\(administrator)"
        browser.open(otherPage)
        let otherPerson = try browser.fields(of: "\(otherPage)/role")
        for (form, origin) in [
            ([], "null"), ([("token", "x")], "null"), (others, "null"), (otherPerson, "null"),
            (own, "https://evil.example"),
        ] as [([(String, String?)], String)] {
            let answer = browser.send(.post, "\(path)/role", form + [("role", "admin")], headers: [("origin", origin)])
            #expect(answer.status == 403)
        }
        #expect(try role(of: bea) == ["user"])
        // Another browser of the same person has a token of its own, and so has the next session of this browser.
        let second = try scene.signedIn("administrator", email: "admin@example.com")
        #expect(second.send(.post, "\(path)/role", own + [("role", "admin")]).status == 403)
        wait()
        browser.open(path)
        try browser.submit("\(path)/role", ["role": "admin"])
        try browser.signIn(as: "administrator", email: "admin@example.com")
        #expect(browser.send(.post, "\(path)/role", own + [("role", "admin")]).status == 403)
        #expect(try role(of: bea) == ["user"])
        #expect(
            browser.send(.post, "\(path)/role", own + [("role", "admin")], headers: [("accept", "application/json")])
                .error == "invalid_request")
    }

    /// The role and the session are checked again when the rule has its locks.
    @Test func whoIsNoAdministratorAnyMoreChangesNothing() throws {
        let bea = try scene.person("bea")
        let path = "/admin/users/\(bea.userID)"
        browser.open(path)
        let own = try browser.fields(of: "\(path)/role")
        try app.change("UPDATE users SET role = 'user' WHERE id = ?", administrator)
        #expect(browser.send(.post, "\(path)/role", own + [("role", "admin")]).status == 403)
        try app.change("UPDATE users SET role = 'admin' WHERE id = ?", administrator)
        try app.change("DELETE FROM web_sessions")
        #expect(browser.send(.post, "\(path)/role", own + [("role", "admin")]).status == 303)
        #expect(try role(of: bea) == ["user"])
    }
}
