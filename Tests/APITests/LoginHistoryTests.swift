import Accounts
import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing

/// `GET /api/v1/me/login_history`, and who writes it (accounts §4.3). Sign-ins in browsers: `WebSignInTests`; the exchange:
/// `DeviceKeyExchangeTests`.
@Suite struct LoginHistoryTests {
    private static let path = "/api/v1/me/login_history"

    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private func history(_ token: String, _ query: String = "") -> Answer {
        client.send(.get, Self.path + query, token: token)
    }

    /// `event provider platform` of each, newest first.
    private func events(_ token: String, _ query: String = "") -> [String] {
        history(token, query)["login_events"]?.array?.map { event in
            ["event", "provider", "platform"].map { event[$0]?.string ?? "-" }.joined(separator: " ")
        } ?? []
    }

    private func session(_ proof: JSONValue, _ members: KeyValuePairs<String, JSONValue?> = [:]) -> Answer {
        client.send(.post, "/api/v1/auth/apple/session", proof.adding(members))
    }

    /// Rows of a user, as imports may have left them.
    private func write(_ count: Int, of user: Int) throws {
        try app.change(
            """
            INSERT INTO login_events (user_id, event, created_at) SELECT ?, 'session', '2026-05-01' FROM seq_1_to_100000
            LIMIT ?
            """, user, count)
    }

    // MARK: The answer

    @Test func anEventSaysWhatWhenAndFromWhere() throws {
        let answer = client.send(
            .post, "/api/v1/devices", ["device_uuid": .string(uuid(1)), "platform": "android"],
            headers: [("user-agent", "App/1 é")])
        let phone = try Phone(answer)
        #expect(
            history(phone.token).description
                == #"200 {"login_events":[{"id":1,"event":"bootstrap","provider":null,"ip":"192.0.2.7","#
                + #""user_agent":"App/1 é","platform":"android","created_at":"2026-05-12T07:00:00Z"}],"next_cursor":null}"#
        )
        #expect(history(phone.token).header("Cache-Control") == "no-store")
    }

    @Test func aPageEndsWhereTheNextBegins() throws {
        let (phone, other) = (try client.bootstrap(1), try client.bootstrap(2))
        for _ in 1...3 { for user in [phone.userID, other.userID] { try write(3, of: user) } }
        let all = try app.column("SELECT CONCAT(id) FROM login_events WHERE user_id = ? ORDER BY id DESC", phone.userID)
        #expect(all.count == 10)
        for limit in 1...11 {
            var (read, query, pages) = ([String](), "?limit=\(limit)", 0)
            while true {
                let answer = history(phone.token, query)
                read += answer["login_events"]?.array?.compactMap { $0["id"]?.integer.map(String.init) } ?? []
                pages += 1
                guard let next = answer["next_cursor"]?.string else { break }
                query = "?limit=\(limit)&before=\(next)"
            }
            #expect(read == all && pages == max(1, (10 + limit - 1) / limit), "\(limit)")
        }
    }

    @Test func aLimitIsANumberUpTo200() throws {
        let phone = try client.bootstrap()
        try write(300, of: phone.userID)
        for limit in ["0", "-1", "x", "", "1.5", "%205"] {
            #expect("\(history(phone.token, "?limit=\(limit)"))" == refusal(400, "invalid_request"), "\(limit)")
        }
        let sizes = [
            ("", 50), ("?limit=1", 1), ("?limit=200", 200), ("?limit=201", 200), ("?limit=9999999999999", 200),
        ]
        for (query, count) in sizes { #expect(events(phone.token, query).count == count, "\(query)") }
    }

    @Test func whatIsNoCursorIsRefused() throws {
        let phone = try client.bootstrap()
        for cursor in ["", "x", "-1", "01", "1.0", "%2B1", "99999999999999999999", "%00", "null"] {
            let answer = history(phone.token, "?before=\(cursor)")
            #expect("\(answer)" == refusal(400, "invalid_cursor"), "\(cursor)")
        }
        #expect(events(phone.token, "?before=0") == [])
        #expect(events(phone.token, "?before=9223372036854775807").count == 1)
    }

    @Test func itsScopeIsItsOwn() throws {
        let phone = try client.bootstrap()
        try app.change("UPDATE paks SET scopes = 'profile:read profile:write'")
        #expect("\(history(phone.token))" == refusal(403, "insufficient_scope"))
        try app.change("UPDATE paks SET scopes = 'login_history:read'")
        #expect(history(phone.token).status == 200)
        #expect("\(client.send(.get, Self.path))" == refusal(401, "invalid_token"))
    }

    /// The read is as cheap at the end of a long history as of a short one, whatever others have.
    @Test func aPageIsOneReadOfAnIndexHoweverMuchThereIs() throws {
        let costs = try [1_000, 100_000].map { size in
            let app = try TestApp()
            let phones = try (1...2).map { try app.client().bootstrap($0) }
            for phone in phones {
                try app.change(
                    "INSERT INTO login_events (user_id, event) SELECT ?, 'session' FROM seq_1_to_100000 LIMIT ?",
                    phone.userID, size)
            }
            try app.sql { _ = try $0.query("ANALYZE TABLE login_events PERSISTENT FOR ALL") }
            let meter = try ReadMeter(app)
            return try ["?limit=200", "?limit=200&before=500"].map { query in
                let (answer, cost) = try meter.measure { $0.send(.get, Self.path + query, token: phones[0].token) }
                #expect(answer["login_events"]?.array?.count == 200)
                let plan = cost.plan.filter { $0.table == "login_events" }
                #expect(plan.map(\.key) == ["login_events_user"] && !plan.contains { $0.extra.contains("filesort") })
                return cost.rowsRead
            }
        }
        #expect(costs[0] == costs[1])
        #expect(costs[0].allSatisfy { $0 < 250 })
    }

    // MARK: Who writes it

    @Test func aDeviceThatStarts() throws {
        let phone = try client.bootstrap()
        let again = try client.reopen(phone)
        _ = client.send(
            .post, "/api/v1/auth/anonymous_bootstrap",
            ["device_id": .string(phone.uuid), "device_platform": "macos", "device_secret": "ds_wrong"])
        #expect(events(again) == ["refused - macos", "bootstrap - ios", "bootstrap - ios"])
    }

    @Test func aSession() throws {
        let phone = try client.signIn(app.proof("ada"), on: 1)
        #expect(session(app.proof("ada")).status == 200)
        #expect(events(phone.token) == ["session apple -", "session apple ios"])
    }

    @Test func aSessionThatIsRefused() throws {
        let phone = try client.signIn(app.proof("ada", email: "ada@icloud.com"), on: 1)
        let other = try client.bootstrap(2)
        let device: KeyValuePairs<String, JSONValue?> = ["device_uuid": .string(other.uuid), "platform": "android"]
        #expect(session(app.proof("ada"), device).error == "device_claimed_by_other_user")
        #expect(
            session(app.proof("two", email: "ada@icloud.com")).error == "email_linked_to_other_apple_account")
        // Nobody is known by this identity.
        #expect(session(app.proof("new"), device).error == "device_claimed_by_other_user")
        #expect(events(phone.token) == ["refused apple -", "refused apple android", "session apple ios"])
        #expect(events(other.token) == ["bootstrap - ios"])
        #expect(try app.count("SELECT COUNT(*) FROM users") == 2)
    }

    @Test func linksAndPromotions() throws {
        let phone = try client.bootstrap()
        for (subject, provider) in [("ada", "apple"), ("ada", "apple"), ("ada-g", "google")] {
            let proof = app.proof(subject, of: provider == "apple" ? .apple : .google)
            let answer = client.send(
                .post, "/api/v1/me/connected_identities", proof.adding(["provider": .string(provider)]),
                token: phone.token)
            #expect(answer.status == 200)
        }
        #expect(events(phone.token) == ["linked google ios", "promoted apple ios", "bootstrap - ios"])
    }

    @Test func aSessionThatPromotes() throws {
        let phone = try client.bootstrap()
        try app.change("INSERT INTO identities (user_id, provider, sub) VALUES (?, 'apple', 'ada')", phone.userID)
        let token = try #require(session(app.proof("ada"))["access_token"]?.string)
        #expect(events(token) == ["promoted apple -", "bootstrap - ios"])
    }

    @Test func aSwap() throws {
        let owner = try client.signIn(app.proof("ada"), on: 1)
        let phone = try client.bootstrap(2)
        func swap() -> Answer {
            client.send(
                .post, "/api/v1/me/anonymous_swap", app.proof("ada").adding(["provider": "apple"]), token: phone.token)
        }
        try app.change("UPDATE users SET deleted_at = NOW() WHERE id = ?", owner.userID)
        #expect(swap().error == "account_deleted")
        try app.change("UPDATE users SET deleted_at = NULL")
        #expect(swap().status == 200)
        #expect(events(owner.token) == ["swapped apple ios", "refused apple ios", "session apple ios"])
        #expect(try app.count("SELECT COUNT(*) FROM login_events") == 3)
    }

    @Test func aMerge() throws {
        let survivor = try client.signIn(app.proof("ada"), on: 1)
        let other = try client.signIn(app.proof("ada-g", of: .google), with: "google", on: 2)
        let token = client.send(.post, "/api/v1/me/merge/session-token", token: other.token)["session_token"]
        let answer = client.send(
            .post, "/api/v1/me/merge", ["target_session_token": token ?? .null], token: survivor.token)
        #expect(answer.status == 200, "\(answer)")
        #expect(events(survivor.token) == ["merged - -", "session google ios", "session apple ios"])
    }

    @Test func whoeverGuessesCannotBuryAHistory() throws {
        let phone = try client.bootstrap()
        func guess(_ count: Int) {
            for number in 1...count {
                _ = client.send(
                    .post, "/api/v1/devices",
                    ["device_uuid": .string(phone.uuid), "platform": "ios", "device_secret": .string("\(number)")])
            }
        }
        func refused() throws -> Int { try app.count("SELECT COUNT(*) FROM login_events WHERE event = 'refused'") }
        guess(25)
        #expect(try refused() == 20)
        app.time.advance(by: .seconds(3600))
        guess(1)
        #expect(try refused() == 21)
    }

    // MARK: Erasure

    @Test func anEventIsErasedAfterItsTime() throws {
        let phone = try client.bootstrap()
        app.time.advance(by: .seconds(86_400))
        let token = try client.reopen(phone)
        func erase() throws -> Int {
            try app.operate { try $0.collect(.loginEvents, loginHistory: .seconds(30 * 86_400)) }
        }
        app.time.advance(by: .seconds(29 * 86_400 - 1))
        #expect(try erase() == 0)
        app.time.advance(by: .seconds(1))
        #expect(try erase() == 1)
        #expect(events(token) == ["bootstrap - ios"])
        try write(1200, of: phone.userID)
        #expect(try (0..<4).map { _ in try erase() } == [500, 500, 200, 0])
    }
}
