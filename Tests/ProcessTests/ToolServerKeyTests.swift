import JSON
import MariaDB
import TestSupport
import Testing

@testable import Accounts

/// `merganserctl server-key rotate`, and servers with a wrong key.
@Suite struct ToolServerKeyTests {
    private static let next = String(repeating: "d5", count: 32)
    private static let nextKey = ServerKey(current: [UInt8](repeating: 0xD5, count: 32))

    let installation: Installation
    private let db: Connection
    private let old: String
    private let oldKey = ServerKey(current: [UInt8](repeating: 0xC4, count: 32))

    /// With an active signing key.
    init() throws {
        installation = try Installation()
        db = try installation.database.connect()
        old = try #require(installation.environment["MERGANSER_SERVER_KEY"])
        #expect(try installation.tool("signing-key", "generate").exit == .status(0))
        #expect(try installation.tool("signing-key", "activate").exit == .status(0))
    }

    private var nextOnly: [String: String] { ["MERGANSER_SERVER_KEY": Self.next] }
    private var both: [String: String] { nextOnly.merging(["MERGANSER_SERVER_KEY_PREVIOUS": old]) { $1 } }

    /// Webhook keys of one application, so that a rotation takes many transactions.
    private func addWebhookKeys(_ count: Int) throws {
        let created = try installation.tool(
            "application", "create", "--name", "N", "--client-type", "public", "--redirect-uri",
            "https://rp.example/cb")
        #expect(created.exit == .status(0))
        let application = try #require(
            try db.first("SELECT id FROM applications") { row in try row.read(Application.ID.self) })
        try db.begin()
        try db.execute("DELETE FROM webhook_keys")
        try db.executeMany(
            "INSERT INTO webhook_keys (application_id, kid, sealed_secret) VALUES (?, ?, ?)",
            (1...count).map { number in
                let kid = "whk_\(number)"
                return [
                    application, kid,
                    oldKey.seal(Array("whsec_\(number)".utf8), for: WebhookKey.row(kid, of: application)),
                ]
            })
        try db.commit()
    }

    /// How many webhook keys one server key alone can open. Each must have its own secret.
    private func openWebhookKeys(_ serverKey: ServerKey) throws -> Int {
        try db.all("SELECT application_id, kid, sealed_secret FROM webhook_keys") { row in
            let (application, kid) = (try row.read(Application.ID.self), try row.read(String.self))
            let secret = try? serverKey.open(row.read(), for: WebhookKey.row(kid, of: application))
            if let secret { #expect(secret == Array("whsec_\(kid.dropFirst(4))".utf8)) }
            return secret
        }.compactMap { $0 }.count
    }

    @Test func reportsWhatItSealedAgain() throws {
        try addWebhookKeys(101)
        let before = try installation.database.dump()
        let plan = try installation.tool(["server-key", "rotate", "--dry-run", "--json"], setting: both)
        let counts: JSONValue = [
            "signing_keys": 1, "webhook_keys": 101, "idempotency_records": 0, "refresh_families": 0,
            "provider_sign_ins": 0, "merge_tokens": 0, "agent_approvals": 0, "push_approval_requests": 0,
            "identities": 0, "apple_revocations": 0, "merge_journal_parts": 0,
        ]
        #expect(try plan.json() == ["dry_run": true, "resealed": counts])
        #expect(try installation.database.dump() == before)

        let outcome = try installation.tool(["server-key", "rotate", "--json"], setting: both)
        #expect(outcome.exit == .status(0))
        #expect(outcome.errorOutput.isEmpty)
        #expect(try outcome.json() == ["dry_run": false, "resealed": counts])
        #expect(try openWebhookKeys(Self.nextKey) == 101)

        let again = try installation.tool(["server-key", "rotate"], setting: both)
        #expect(again.exit == .status(0))
        #expect(again.output.hasPrefix("signing_keys             0\nwebhook_keys             0\n"))
        #expect(again.output.contains("unset the previous key and restart them"))
    }

    /// The command is killed repeatedly, at different points. The next run continues.
    @Test func goesOnAfterKills() throws {
        let count = 1200
        try addWebhookKeys(count)
        let bothKeys = ServerKey(
            current: [UInt8](repeating: 0xD5, count: 32), previous: [UInt8](repeating: 0xC4, count: 32))
        var kills = 0
        var done = 0
        while done < count {
            let rotation = try ChildProcess(
                Repository.program("merganserctl"), ["server-key", "rotate", "--pause", "300"],
                environment: installation.environment.merging(both) { $1 })
            try rotation.wait(for: "a transaction") {
                let sealed = try db.first(
                    "SELECT COUNT(*) FROM webhook_keys WHERE SUBSTR(sealed_secret, 2, 4) = ?", Self.nextKey.ids.current
                ) { row in try row.read(Int.self) }
                return sealed ?? 0 > done
            }
            rotation.kill()
            if try rotation.waitForExit() == .signal(9) { kills += 1 }
            done = try openWebhookKeys(Self.nextKey)
            #expect(try openWebhookKeys(oldKey) == count - done)
            #expect(try openWebhookKeys(bothKeys) == count)
        }
        #expect(kills > 2)
        let rest = try installation.tool(["server-key", "rotate", "--json"], setting: both)
        #expect(rest.exit == .status(0))
        #expect(try openWebhookKeys(Self.nextKey) == count)
        #expect(try installation.readyServer(setting: nextOnly).isRunning)
    }

    /// An identity that is linked again takes its token back from the queue, while the command is at the queue and has done
    /// the identities.
    @Test func whatMovesMeanwhileIsSealedAgain() throws {
        try db.execute("INSERT INTO users (id, anonymous) VALUES (1, FALSE)")
        try db.execute("INSERT INTO identities (user_id, provider, sub) VALUES (1, 'apple', 'ada')")
        for byte in [7, 8] as [UInt8] {
            let handle = [UInt8](repeating: byte, count: 16)
            try db.execute(
                """
                INSERT INTO apple_revocations (client_id, token_handle, token, next_attempt_at)
                VALUES ('c', ?, ?, NOW(3))
                """, handle, oldKey.seal([byte], for: SealedAppleGrant.row(handle)))
        }
        try db.executeScript(
            """
            CREATE TRIGGER take_back BEFORE UPDATE ON apple_revocations FOR EACH ROW
            UPDATE identities SET apple_client_id = 'c', apple_token_handle = OLD.token_handle, apple_token = OLD.token
            WHERE apple_token IS NULL
            """)
        let outcome = try installation.tool(["server-key", "rotate", "--json"], setting: both)
        let resealed = try #require(try outcome.json()["resealed"], "\(outcome)")
        #expect(resealed["identities"] == 1, "\(resealed)")
        let opened = try db.first("SELECT apple_token_handle, apple_token FROM identities") { row in
            let handle = try row.read([UInt8].self)
            return try Self.nextKey.open(row.read(), for: SealedAppleGrant.row(handle))
        }
        #expect(opened == [7])
    }

    // MARK: Wrong keys

    @Test func aServerWithAWrongKeyDoesNotStart() throws {
        let server = try installation.server(setting: nextOnly)
        #expect(try server.waitForExit() == .status(78))
        let critical = try server.log.filter { $0["level"] == "critical" }.compactMap { $0["message"]?.string }
        #expect(critical.count == 1)
        #expect(critical[0].hasPrefix("MERGANSER_SERVER_KEY: signing key "), "\(critical)")
        #expect(critical[0].contains("was sealed under another server key; set that key as MERGANSER_SERVER_KEY"))
        #expect(!installation.exists("fastcgi.sock"))
        #expect(try installation.readyServer(setting: both).isRunning)
    }

    @Test func aWebhookKeyIsEnoughToKnowAWrongKey() throws {
        try addWebhookKeys(1)
        try db.execute("DELETE FROM signing_keys")
        let server = try installation.server(setting: nextOnly)
        #expect(try server.waitForExit() == .status(78))
        #expect(server.errorOutput.contains("MERGANSER_SERVER_KEY: webhook key whk_1 was sealed"))
    }

    @Test func anyKeyWillDoWhileNothingIsSealed() throws {
        try db.execute("DELETE FROM signing_keys")
        #expect(try installation.readyServer(setting: nextOnly).isRunning)
    }

    @Test(arguments: [["signing-key", "generate"], ["server-key", "rotate"]])
    func commandsRefuseAWrongKeyAndChangeNothing(_ arguments: [String]) throws {
        let before = try installation.database.dump()
        let outcome = try installation.tool(arguments + ["--json"], setting: nextOnly)
        #expect(outcome.exit == .status(1))
        let error = try outcome.errorJSON()
        #expect(error["error"] == "refused")
        #expect(error["message"]?.string?.contains("MERGANSER_SERVER_KEY_PREVIOUS") == true)
        #expect(try installation.database.dump() == before)
    }

    @Test func aKeyThatDoesNotOpenIsNotActivated() throws {
        try db.execute("DELETE FROM signing_keys")
        #expect(try installation.tool("signing-key", "generate").exit == .status(0))
        let outcome = try installation.tool(["signing-key", "activate", "--json"], setting: nextOnly)
        #expect(outcome.exit == .status(1))
        #expect(try outcome.errorJSON()["message"]?.string?.contains("cannot be opened") == true)
    }
}
