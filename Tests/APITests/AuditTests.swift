import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Testing
import Text

/// The audit log (accounts §0.6).
@Suite struct AuditTests {
    let app: TestApp
    let client: Client

    init() throws {
        app = try TestApp()
        client = app.client()
    }

    private static let link = "/api/v1/me/connected_identities"

    /// `Golden/audit.txt` has the rows that each kind of request writes to the audit log. Also checks that their
    /// details have no secret.
    @Test func theRowsOfEveryActionArePinned() throws {
        var lines: [String] = []
        var last = 0
        func note(_ what: String) throws {
            let rows = try app.database.connect().all(
                """
                SELECT id, CONCAT_WS(' ', COALESCE(user_id, '-'), actor, action, details) FROM audit_log WHERE id > ?
                ORDER BY id
                """, last
            ) { row in (try row.read(Int.self), try row.read(String.self)) }
            lines += [what] + rows.map { "    " + $0.1 } + [""]
            last = rows.last?.0 ?? last
        }
        @discardableResult func note(_ what: String, _ answer: Answer) throws -> Answer {
            try note("\(what): \(answer.status)")
            return answer
        }
        func post(_ path: String, _ body: JSONValue, _ token: String? = nil) -> Answer {
            client.send(.post, path, body, token: token)
        }
        func device(_ number: Int, secret: String? = nil) -> JSONValue {
            let device: JSONValue = ["device_uuid": .string(uuid(number)), "platform": "ios"]
            return device.adding(["device_secret": secret.map(JSONValue.string)])
        }
        func onDevice(_ proof: JSONValue, _ number: Int, secret: String? = nil) -> JSONValue {
            proof.adding([
                "device_uuid": .string(uuid(number)), "platform": "ios", "device_secret": secret.map(JSONValue.string),
            ])
        }
        let session = "/auth/apple/session"
        let apple = app.proof("a", email: "ada@icloud.com").adding(["provider": "apple"])
        let google = app.proof("g", of: .google).adding(["provider": "google"])

        let phone = try Phone(note("bootstrap of a new device", post("/api/v1/devices", device(1))))
        for _ in 1...4 { _ = try client.reopen(phone) }
        try note("(four more)")
        try note("the sixth bootstrap", post("/api/v1/devices", device(1, secret: phone.secret)))
        try note("refused bootstrap", post("/api/v1/devices", device(1, secret: "ds_wrong")))

        try note("session with a new identity on a new device", post(session, onDevice(apple, 2)))
        try note("session on the same device", post(session, onDevice(apple, 2)))
        let third = try Phone(
            note("session with Google on a device", post("/auth/google/session", onDevice(google, 3))))
        try note(
            "session that takes an identified user's device", post(session, onDevice(apple, 3, secret: third.secret)))
        let fourth = try client.bootstrap(4)
        try note("(an anonymous user)")
        try note(
            "session that takes an anonymous user's device", post(session, onDevice(apple, 4, secret: fourth.secret)))
        try note("session without a device", post(session, apple))
        try app.change("INSERT INTO identities (user_id, provider, sub) VALUES (?, 'apple', 'x')", fourth.userID)
        try note("session that promotes", post(session, app.proof("x")))
        try app.change(
            "UPDATE users SET login_email = 'i@icloud.com', login_email_authoritative = TRUE WHERE id = ?", third.userID
        )
        try note("session that links by e-mail", post(session, app.proof("i", email: "i@icloud.com")))

        let promoting = try client.reopen(phone)
        try note("(a second PAK)")
        try note("link that is refused with a ticket", post(Self.link, apple, promoting))
        let other = try client.bootstrap(5)
        try app.change("UPDATE devices SET user_id = ? WHERE id = ?", phone.userID, other.deviceID)
        try note("(a second device)")
        let own = app.proof("own", of: .google).adding(["provider": "google"])
        try note("link that promotes", post(Self.link, own, promoting))
        try note("link of the caller's own", post(Self.link, own, promoting))
        let more = app.proof("more").adding(["provider": "apple"])
        try note("link of one more", post(Self.link, more, promoting))
        try note("unlink", client.send(.delete, Self.link + "/google", token: promoting))
        let names: JSONValue = ["name": "Ada", "contact_email": .null]
        try note("patch", client.send(.patch, "/api/v1/me", names, token: promoting))
        try note("patch of nothing", client.send(.patch, "/api/v1/me", [:], token: promoting))
        try note("end of a session", client.send(.delete, "/api/v1/auth/session", token: promoting))
        let reopened = try client.reopen(phone)
        try note("(a PAK)")
        try note("deletion", client.send(.delete, "/api/v1/me", token: reopened))
        try app.restore(1)
        try note("restoration by an operator")
        try expectGolden("audit.txt", lines)
    }

    @Test func aRowSaysWhenAndFromWhere() throws {
        let claimed = #""\{😀'"# + String(repeating: "é", count: 200)
        let answer = client.send(
            .post, "/api/v1/devices", ["device_uuid": .string(uuid(1)), "platform": "ios"],
            headers: [
                ("x-device-uuid", claimed), ("x-forwarded-for", "203.0.113.1"), ("x-real-ip", "203.0.113.1"),
                ("forwarded", "for=203.0.113.1"),
            ], requestID: "f00d")
        #expect(answer.status == 200)
        let rows = try app.column(
            """
            SELECT CONCAT_WS(' ', at, ip, request_id, JSON_VALUE(details, '$.claimed_device_uuid')) FROM audit_log
            """)
        let expected = "2026-05-12 07:00:00.000 192.0.2.7 f00d " + claimed.prefix(scalars: 100)
        #expect(rows == [expected, expected, expected])
    }

    @Test func rowsAreNeverChangedOrDeleted() throws {
        let phone = try client.bootstrap()
        let other = try client.bootstrap(2)
        let refused: [StaticString] = [
            "DELETE FROM audit_log", "DELETE FROM audit_log WHERE user_id IS NULL OR id = 1",
            "UPDATE audit_log SET id = 100 + id", "UPDATE audit_log SET at = NOW()",
            "UPDATE audit_log SET user_id = 2", "UPDATE audit_log SET user_id = user_id",
            "UPDATE audit_log SET actor = 'x'", "UPDATE audit_log SET action = 'x'",
            "UPDATE audit_log SET request_id = 'x'", "UPDATE audit_log SET request_id = NULL",
            "UPDATE audit_log SET ip = NULL", "UPDATE audit_log SET details = NULL",
            "UPDATE audit_log SET user_id = NULL, details = '{}'",
            "UPDATE audit_log SET user_id = NULL, details = NULL",
            "UPDATE audit_log SET user_id = NULL, details = JSON_REPLACE(details, '$.device_id', NULL)",
            "UPDATE audit_log SET user_id = NULL, ip = '192.0.2.8'",
            "UPDATE audit_log SET user_id = NULL, ip = NULL, at = NOW()",
            "UPDATE audit_log SET user_id = NULL, ip = NULL, request_id = NULL",
            "REPLACE audit_log SELECT * FROM audit_log",
        ]
        try app.expectUnchanged {
            for sql in refused {
                #expect("\(sql)") {
                    try app.change(sql)
                } throws: {
                    ($0 as? MariaDBError)?.sqlState == "45000"
                }
            }
        }
        try app.change("UPDATE audit_log SET user_id = NULL WHERE user_id = ?", phone.userID)
        try app.change("DELETE FROM users WHERE id = ?", other.userID)
        #expect(try app.column("SELECT user_id FROM audit_log") == Array(repeating: "NULL", count: 6))
        // What a purge clears: who was there, from where, on which device; of what an account did to others, once it is gone.
        try app.change("UPDATE audit_log SET ip = NULL WHERE actor = ?", "user:\(other.userID)")
        try app.change(
            """
            INSERT INTO audit_log (at, user_id, actor, action, ip, details) VALUES
                (NOW(), ?, 'user:4711', 'x', '192.0.2.7', '{"name":"Ada","device_uuid":"u","device_id":7}')
            """, phone.userID)
        try app.change(
            """
            UPDATE audit_log
            SET ip = NULL,
                details = JSON_REPLACE(details, '$.device_uuid', NULL, '$.claimed_device_uuid', NULL, '$.email', NULL,
                                       '$.address', NULL, '$.name', NULL)
            WHERE actor = 'user:4711'
            """)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', user_id, ip, JSON_VALUE(details, '$.name'), JSON_VALUE(details, '$.device_uuid'),
                                 JSON_VALUE(details, '$.device_id'))
                FROM audit_log WHERE actor = 'user:4711'
                """) == ["\(phone.userID) 7"])
        // Nor given back.
        #expect(throws: MariaDBError.self) { try app.change("UPDATE audit_log SET user_id = ?", phone.userID) }
    }

    @Test func noSecretIsKeptOrLogged() throws {
        var secrets: [String] = []
        func note(_ answer: Answer) throws -> Answer {
            #expect(answer.status < 500)
            secrets += ["access_token", "device_secret", "swap_ticket"].compactMap { answer[$0]?.string }
            return answer
        }
        let proof = app.proof("ada", email: "ada@icloud.com").adding(["provider": "apple"])
        secrets += [proof["identity_token"]?.string ?? ""]
        let key = [(name: "idempotency-key", value: "0123456789abcdefghijkl")]
        let device: JSONValue = ["device_uuid": .string(uuid(1)), "platform": "ios"]
        let phone = try Phone(note(client.send(.post, "/api/v1/devices", device, headers: key)))
        _ = try note(client.send(.post, "/auth/apple/session", proof, headers: key))
        _ = try note(client.send(.post, Self.link, proof, token: phone.token, headers: key))
        _ = try note(client.send(.post, "/api/v1/devices", device.adding(["device_secret": .string(phone.secret)])))
        try app.change("ALTER TABLE devices DROP COLUMN platform")
        #expect(client.send(.post, "/api/v1/devices", device.adding(["device_secret": "ds_bad"])).status == 500)
        #expect(client.send(.get, "/api/v1/me", token: phone.token + "x").status == 401)

        #expect(secrets.count == 6)
        let (dump, log) = (try app.database.dump(), app.log.lines.joined(separator: "\n"))
        for secret in secrets { #expect(!dump.contains(secret) && !log.contains(secret)) }
        #expect(!log.contains("ds_bad") && !log.contains("ada@icloud.com"))
    }
}
