import Foundation
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Threads

@testable import Accounts
@testable import Analytics

/// `GET /api/v1/me/export` (accounts §4.8).
@Suite struct ExportTests {
    let app: TestApp
    let scene: SwapScene

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
    }

    private func member() throws -> Member {
        let member = try scene.member()
        try app.change(
            "UPDATE paks SET scopes = 'profile:read login_history:read' WHERE user_id = ?", member.id)
        return member
    }

    /// With the whole document, which is streamed.
    private func export(_ token: String) throws -> Answer {
        try app.client().send(.get, "/api/v1/me/export", token: token).received()
    }

    private func first(_ section: String, of answer: Answer) -> JSONValue? { answer[section]?.array?.first }

    @Test func everyKindOfRowIsThere() throws {
        let member = try member()
        try scene.furnish(member.id, shared: scene.relyingParty())
        try app.change(
            "INSERT INTO refresh_families (grant_id, scopes) SELECT id, 'openid' FROM grants WHERE user_id = ?",
            member.id)
        try app.change(
            """
            INSERT INTO agent_approval_history
                (approval, sequence, user_id, event, at, display_payload_hash, previous_digest, digest)
            VALUES ('aar_1', 1, ?, 'created', ?, '', '', '')
            """, member.id, app.time.now)
        try app.change(
            "INSERT INTO audit_log (at, user_id, actor, action) VALUES (?, ?, 'operator', 'user.updated')",
            app.time.now,
            member.id)
        let project = try AnalyticsScene(app)
        try app.change("UPDATE projects SET accounts = TRUE")
        try project.furnish("\(member.id)", scene.client)
        let answer = try export(member.token)
        #expect(answer.status == 200 && answer["format"] == 1)
        #expect(answer["account"]?["id"] == .integer(Int64(member.id)))
        var names: [String] = []
        if case .object(let document) = answer.json {
            names = document.members.map(\.name)
            for member in document.members {
                if let rows = member.value.array { #expect(!rows.isEmpty, "\(member.name)") }
            }
        }
        #expect(names.count == 28)
        #expect(first("connected_apps", of: answer)?["scopes"]?.array != nil)
        #expect(first("absorbed_accounts", of: answer)?["name"] == "Absorbed before")
        #expect(answer["activity"]?.array?.last?["action"] != nil)
    }

    @Test func nobodyElseIsInIt() throws {
        let (one, other) = (try member(), try member())
        let shared = try scene.relyingParty()
        for member in [one, other] { try scene.furnish(member.id, shared: shared) }
        let text = try export(one.token).text
        #expect(text.contains("swapped-\(one.id)") && !text.contains("swapped-\(other.id)"))
        #expect(!text.contains("\"id\":\(other.id),"))
    }

    /// A merge leaves the audit log and the PAKs of an absorbed account under its own id.
    @Test func whatStayedWithAbsorbedAccountsIsInIt() throws {
        let (member, first, second) = (try member(), try scene.member(), try scene.member())
        let other = try scene.member()
        for absorbed in [first, second] {
            try app.change(
                "UPDATE users SET login_email = CONCAT(id, '@old.example') WHERE id = ?", absorbed.id)
            try app.absorb(absorbed.id, into: member.id)
        }
        for id in [first.id, second.id, other.id] {
            try app.change(
                "INSERT INTO audit_log (at, user_id, actor, action) VALUES (?, ?, 'operator', CONCAT('test.', ?))",
                app.time.now, id, id)
            try app.change("UPDATE paks SET label = CONCAT('pak of ', user_id) WHERE user_id = ?", id)
        }
        let answer = try export(member.token)
        func rows(_ section: String, _ name: String, _ prefix: String) throws -> [String] {
            try #require(answer[section]?.array).compactMap { row in
                guard let text = row[name]?.string, text.hasPrefix(prefix) else { return nil }
                return "\(row["account_id"]?.integer ?? 0) \(text)"
            }
        }
        let ids = [first.id, second.id]
        #expect(try rows("activity", "action", "test.") == ids.map { "\($0) test.\($0)" })
        #expect(try rows("sessions", "label", "pak of ") == ids.map { "\($0) pak of \($0)" })
        #expect(
            answer["absorbed_accounts"]?.array?.map { $0["login_email"] } == ids.map { .string("\($0)@old.example") })
    }

    @Test func anAnonymousAccountHasOneToo() throws {
        let phone = try app.client().bootstrap()
        let answer = try export(phone.token)
        #expect(answer["account"]?["anonymous"] == true)
        #expect(first("devices", of: answer)?["device_uuid"] == .string(phone.uuid))
        for secret in [phone.token, phone.secret] { #expect(!answer.text.contains(secret)) }
    }

    @Test func whatAgentsAskedIsReadable() throws {
        let client = app.client()
        let phone = try client.bootstrap()
        let approval = try client.ask(client.agent(of: phone, in: app), ["context": ["folder": "/tmp"]])
        let answer = try export(phone.token)
        #expect(first("agent_approvals", of: answer)?["context"] == ["folder": "/tmp"])
        #expect(!answer.text.contains(approval.number))
        // One that cannot be opened is no reason to keep the rest back.
        try app.change("UPDATE agent_approvals SET sealed_request = 'x'")
        #expect(first("agent_approvals", of: try export(phone.token))?["context"] == .null)
    }

    /// Page by page, each row once.
    @Test(arguments: [0, 1, 99, 100, 101, 250]) func longHistoriesAreWhole(count: Int) throws {
        let phone = try app.client().bootstrap()
        let before = try app.count("SELECT COUNT(*) FROM audit_log WHERE user_id = ?", phone.userID)
        try app.change(
            """
            INSERT INTO audit_log (at, user_id, actor, action) SELECT ?, ?, 'operator', CONCAT('test.', seq)
            FROM seq_1_to_1000 WHERE seq <= ?
            """, app.time.now, phone.userID, count)
        let rows = try #require(try export(phone.token)["activity"]?.array)
        // With the entry that tells of this export.
        #expect(rows.count == before + count + 1)
        let numbered = rows.compactMap { $0["action"]?.string }.filter { $0.hasPrefix("test.") }
        #expect(numbered == (0..<count).map { "test.\($0 + 1)" })
    }

    /// Nobody waits until everything is read, and nothing is left in the folder.
    @Test func nothingIsLockedMeanwhile() throws {
        let phone = try app.client().bootstrap()
        let db = try app.database.connect()
        try db.executeScript("START TRANSACTION; SELECT id FROM audit_log FOR UPDATE")
        #expect(try export(phone.token).status == 200)
        try db.executeScript("ROLLBACK")
        func files() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: NSTemporaryDirectory())).filter {
                $0.hasPrefix("merganser-export-")
            }
        }
        // Other tests export at the same time, and their files go, too.
        let left = try files()
        try app.wait { try files().isDisjoint(with: left) }
    }

    @Test func threeADay() throws {
        let phone = try app.client().bootstrap()
        for _ in 0..<3 { #expect(try export(phone.token).status == 200) }
        let refused = try export(phone.token)
        #expect("\(refused)" == refusal(429, "rate_limited") && refused.header("Retry-After") == "86400")
        #expect(try export(app.client().bootstrap(2).token).status == 200, "each account has its own")
        app.time.advance(by: .seconds(86_400))
        #expect(try export(phone.token).status == 200)
    }

    /// The data wait behind another session's lock of a table that only the document is read from.
    @Test func whoeverIsOneTooManyReadsNothing() throws {
        let phone = try app.client().bootstrap()
        let db = try app.database.connect()
        try db.executeScript("LOCK TABLES login_events WRITE")
        let answers = Monitor<[Int]>([])
        let requests = (0..<8).map { _ in
            JobThread { [app, token = phone.token] in
                let status = app.client().send(.get, "/api/v1/me/export", token: token).status
                answers.change { $0.append(status) }
            }
        }
        let refused = answers.wait(atMost: .seconds(20)) { $0.count == 5 ? $0 : nil }
        #expect(refused == [429, 429, 429, 429, 429])
        try db.executeScript("UNLOCK TABLES")
        for request in requests { #expect(request.failure == nil) }
        #expect(answers.withLock { $0.suffix(3) } == [200, 200, 200])
    }

    @Test func whatCannotBeReadCountsToo() throws {
        let phone = try app.client().bootstrap()
        try app.sql { try $0.executeScript("RENAME TABLE login_events TO elsewhere") }
        for _ in 0..<3 { #expect(try export(phone.token).status == 500) }
        try app.sql { try $0.executeScript("RENAME TABLE elsewhere TO login_events") }
        #expect(try export(phone.token).status == 429)
    }

    /// More than one answer may have, or than can be read in time. It counts, because it was read.
    @Test(arguments: [ExportBound(bytes: 100, time: .seconds(60)), ExportBound(bytes: .max, time: .zero)])
    func whatIsTooMuchIsRefused(bound: ExportBound) throws {
        let app = try TestApp(settings: AccountsSettings(issuer: TestApp.issuer, exportBound: bound))
        let phone = try app.client().bootstrap()
        for refusal in [String](repeating: #"422 {"error":"account_too_large"}"#, count: 3) {
            #expect(app.client().send(.get, "/api/v1/me/export", token: phone.token).description == refusal)
        }
        #expect(app.client().send(.get, "/api/v1/me/export", token: phone.token).status == 429)
    }

    /// It neither counts nor reads; at the limit it says so.
    @Test func headReadsNothing() throws {
        let client = app.client()
        let phone = try client.bootstrap()
        let db = try app.database.connect()
        try db.executeScript("LOCK TABLES login_events WRITE")
        let head = client.send(.head, "/api/v1/me/export", token: phone.token)
        try db.executeScript("UNLOCK TABLES")
        #expect(head.status == 200 && head.response.length == nil && head.response.stream == nil)
        for _ in 0..<3 { #expect(try export(phone.token).status == 200) }
        #expect(client.send(.head, "/api/v1/me/export", token: phone.token).status == 429)
    }

    // MARK: Completeness

    /// What an export leaves out, and why.
    private static let omitted: [String: Set<String>] = [
        "counts writes": ["users.version", "web_sessions.version", "app_users.version"],
        "the same as another column": [
            "users.live_login_email", "users.verified_addresses", "devices.live_paks", "devices.live_paks_at",
            "questionnaire_responses.is_live",
        ],
        "counts rows that are exported": ["app_users.attachment_bytes", "app_users.attachment_files"],
        "the digest of a file's bytes": ["event_attachments.sha256"],
        "names the key of an app": ["events.api_key_id", "metric_events.api_key_id", "funnel_events.api_key_id"],
        "says that there are rows which are exported": ["users.has_merges"],
        "a secret, its digest, or a handle that stands for it": [
            "devices.secret_digest", "paks.digest", "web_sessions.digest", "web_sessions.handle", "agents.token_digest",
            "agent_approval_history.previous_digest", "agent_approval_history.digest",
            "agent_approvals.history_digest", "push_approval_requests.browser_digest", "identities.apple_token",
            "identities.apple_token_handle", "identities.apple_client_id",
        ],
        "an id that another member shows as a name": [
            "devices.application_id", "paks.application_id", "paks.device_id", "grants.application_id",
            "absorbed_subs.application_id", "agent_approvals.agent_id",
            "push_approval_requests.application_id",
        ],
        "counts the rows of the history": ["agent_approvals.history_length"],
        "sealed; the number that a browser showed for three minutes": ["push_approval_requests.sealed_number"],
        "names an event of the relying party": ["absorbed_subs.source_event_id"],
        "chosen by the client for repeated requests": ["identity_links.idempotency_key"],
    ]
    /// Credentials that live for minutes, tokens that wait to be revoked, and whom to tell of a deletion that is taken back, and what an
    /// operator can take back. What an application is, its owner reads at `/api/v1/applications`. How many events there are in a
    /// month, the events say.
    private static let omittedTables: Set = [
        "merge_otps", "merge_tokens", "swap_tickets", "applications", "deletion_notices", "apple_revocations",
        "merge_journals", "app_user_event_counts",
    ]

    /// A new column that belongs to a user, or to a user's record in a project, is in the export, or this test says why not.
    @Test func everyColumnIsInItOrOmittedForAReason() throws {
        let sections = ([ExportSection.account] + ExportSection.all).map { "\($0.sql)" }
        let records = RecordSection.all.map { section in
            "\(section.select) " + section.sources.map { "\($0.rows)" }.joined(separator: " ")
        }
        let words: [Set<String>] = (sections + records).map { sql in
            Set(sql.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
        }
        let columns = try scene.db.all(
            """
            SELECT c.table_name, c.column_name FROM information_schema.columns c
            JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
            WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' AND c.extra NOT LIKE '%auto_increment%'
              AND (c.table_name IN ('users', 'app_users') OR EXISTS (
                SELECT 1 FROM information_schema.columns u WHERE u.table_schema = DATABASE()
                AND u.table_name = c.table_name AND u.column_type = 'bigint(20) unsigned'
                AND (u.column_name LIKE '%user_id' OR u.column_name = 'requester_id')))
              AND NOT (c.column_type = 'bigint(20) unsigned' AND c.column_name LIKE '%user_id')
            """
        ) { row in (table: try row.read(String.self), column: try row.read(String.self)) }
        #expect(columns.count > 200)
        let omitted = Self.omitted.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        for (table, column) in columns
        where !Self.omittedTables.contains(table) && !omitted.contains("\(table).\(column)") {
            #expect(
                words.contains { $0.contains(table) && $0.contains(column) },
                "\(table).\(column) says something about a user and is not exported")
        }
    }
}
