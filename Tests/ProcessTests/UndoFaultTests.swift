import Foundation
import JSON
import MariaDB
import Synchronization
import TestSupport
import Testing

/// A process that dies in the middle of an undo (accounts Stage 6): everything is undone or nothing, and it can be repeated.
@Suite struct UndoFaultTests {
    /// Who takes the merge back.
    enum Program: String, CaseIterable, CustomTestStringConvertible {
        case merganserd, merganserctl

        var testDescription: String { rawValue }
    }

    /// The locks where it is stopped: at the journal, at the first rows that go back, at the grants, at the requests of agents, at
    /// analytics' records, at the last one before COMMIT.
    static let locks = [
        "merge_journals", "devices", "grants", "agent_approvals", "app_users", "application_event_counters",
    ]

    private let installation: Installation
    private let proxy: DatabaseProxy
    private let db: Connection
    /// What each table was before the merge, of those that the undo has to bring back.
    private let before: [String]

    /// With a merge of user 2 into user 1, and user 3, an administrator who is signed in.
    init() throws {
        let database = try TestDatabase()
        guard case .unixSocket(let socket) = database.options.address else {
            throw TestSupportError("the tests' database is not on a unix socket")
        }
        proxy = try DatabaseProxy(to: socket)
        installation = try Installation(database: database, ["MERGANSER_DATABASE_SOCKET": proxy.socket])
        db = try database.connect()
        let server = try installation.readyServer()
        let (survivor, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000001")
        let (absorbed, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000002")
        try db.executeScript(
            """
            UPDATE users SET anonymous = FALSE WHERE id = 1;
            INSERT INTO applications (id, client_id, name, client_type) VALUES (1, 'notes', 'Notes', 'public');
            INSERT INTO application_event_counters (application_id) VALUES (1);
            INSERT INTO grants (user_id, application_id, sub) VALUES (2, 1, '2');
            INSERT INTO identities (user_id, provider, sub) VALUES (1, 'apple', 'one'), (2, 'apple', 'two');
            INSERT INTO agents (id, user_id, public_id) VALUES (1, 2, 'agt_0000000000000001');
            INSERT INTO agent_approvals (user_id, agent_id, public_id, display_payload_hash)
                VALUES (2, 1, 'aar_0000000000000001', SHA2('', 256));
            INSERT INTO teams (id, name, created_at) VALUES ('', 'Team', NOW());
            INSERT INTO projects (id, team_id, name, slug, accounts, created_at)
            SELECT '', id, 'Project', 'project', TRUE, NOW() FROM teams;
            INSERT INTO app_users (public_id, project_id, user_id, is_anonymous, first_seen_at, last_seen_at)
            SELECT RANDOM_BYTES(16), id, seq, FALSE, '2026-05-01', '2026-05-01' FROM projects JOIN seq_1_to_2;
            INSERT INTO users (id, role) VALUES (3, 'admin');
            INSERT INTO web_sessions (digest, user_id, expires_at)
                VALUES (UNHEX(SHA2('\(Self.session)', 256)), 3, NOW(3) + INTERVAL 1 HOUR);
            """)
        before = try Self.rows(db)
        let issued = try installation.ask(
            "POST", "/api/v1/me/merge/session-token", headers: [("HTTP_AUTHORIZATION", "Bearer \(absorbed)")])
        let token = try #require(try JSONValue(json: issued.body)["session_token"]?.string)
        let merged = try installation.ask(
            "POST", "/api/v1/me/merge", headers: [("HTTP_AUTHORIZATION", "Bearer \(survivor)")],
            body: #"{"target_session_token":"\#(token)"}"#)
        try #require(merged.status == 200, "\(String(decoding: merged.body, as: UTF8.self))")
        #expect(try Self.rows(db) != before)
        server.terminate()
        try server.waitForExit()
    }

    private static let session = String(repeating: "s", count: 43)
    private static let cookies = [
        ("HTTP_COOKIE", "merganser_browser=\(String(repeating: "b", count: 43)); merganser_session=\(session)"),
        ("HTTP_ACCEPT", "text/html"),
    ]

    /// The rows that a merge moves, one a line.
    private static func rows(_ db: Connection) throws -> [String] {
        try db.query(
            """
            SELECT CONCAT('device ', id, ' ', user_id) FROM devices
            UNION ALL SELECT CONCAT('grant ', id, ' ', user_id) FROM grants
            UNION ALL SELECT CONCAT('identity ', id, ' ', user_id) FROM identities
            UNION ALL SELECT CONCAT('agent ', id, ' ', user_id) FROM agents
            UNION ALL SELECT CONCAT('approval ', id, ' ', user_id) FROM agent_approvals
            UNION ALL SELECT CONCAT_WS(' ', 'record', id, user_id, merged_into) FROM app_users
            UNION ALL SELECT CONCAT('link ', id) FROM identity_links
            ORDER BY 1
            """
        ).map { $0.map { $0.map { String(decoding: $0, as: UTF8.self) } ?? "NULL" }.joined() }
    }

    /// The page's form, which another server takes, too.
    private func form() throws -> String {
        let page = try installation.ask("GET", "/admin/merges/1", headers: Self.cookies)
        let text = String(decoding: page.body, as: UTF8.self)
        let token = try #require(text.firstMatch(of: /name="token" value="([^"]*)"/)?.1, "\(text)")
        return "token=\(token)"
    }

    /// Starts the undo, and does not wait for its end.
    ///
    /// - Parameter prepare: runs when nothing else is left to do, and gets what kills the process.
    private func begin(
        _ program: Program, _ prepare: (_ kill: @escaping @Sendable () -> Void) throws -> Void
    ) throws -> (process: ChildProcess, client: FastCGIClient?) {
        switch program {
        case .merganserd:
            let server = try installation.readyServer()
            let form = try form()
            try prepare { server.kill() }
            let client = try FastCGIClient(installation.directory.file("fastcgi.sock"))
            try client.send(request(form))
            return (server, client)
        case .merganserctl:
            let started = Mutex<ChildProcess?>(nil)
            try prepare { while started.withLock({ $0?.kill() }) == nil { usleep(1000) } }
            let process = try ChildProcess(
                Repository.program("merganserctl"), ["merge", "undo", "1"], environment: installation.environment)
            started.withLock { $0 = process }
            return (process, nil)
        }
    }

    private func request(_ form: String) -> [UInt8] {
        FastCGIClient.request(
            "POST", "/admin/merges/1/undo",
            headers: Self.cookies + [("CONTENT_TYPE", "application/x-www-form-urlencoded")], body: Array(form.utf8),
            keep: false)
    }

    /// Until the database has rolled back what the dead process had begun.
    private func waitForTheDead() throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if try !installation.database.hasTransaction(db) { return }
            usleep(5000)
        }
        Issue.record("its transaction did not end")
    }

    /// Repeats it, and looks at what it did.
    ///
    /// - Parameter isDone: whether it was done before.
    private func expectUndone(_ program: Program, isDone: Bool) throws {
        switch program {
        case .merganserctl:
            let outcome = try installation.tool("merge", "undo", "1")
            #expect((outcome.exit == .status(0)) == !isDone, "\(outcome)")
            if isDone { #expect(outcome.errorOutput.contains("it was undone before"), "\(outcome)") }
        case .merganserd:
            let server = try installation.readyServer()
            if !isDone {
                let client = try FastCGIClient(installation.directory.file("fastcgi.sock"))
                try client.send(request(try form()))
                #expect(try client.receiveAnswer()?.status == 303)
            }
            #expect(server.isRunning)
        }
        #expect(try Self.rows(db) == before)
        let again = try installation.tool("merge", "undo", "1")
        #expect(again.exit != .status(0) && again.errorOutput.contains("it was undone before"), "\(again)")
        let told = try db.query("SELECT event_type FROM webhook_outbox ORDER BY id").map { row in
            row[0].map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(told == ["user.merged", "user.unlinked"])
    }

    private func expectUnchanged(since dump: String) throws {
        let lines = (
            dump: Set(dump.split(separator: "\n")), now: Set(try installation.database.dump().split(separator: "\n"))
        )
        #expect(lines.now.symmetricDifference(lines.dump) == [])
    }

    @Test(arguments: Program.allCases, locks) func aKilledProcessLeavesNothing(program: Program, table: String) throws {
        var dump = ""
        let holder = try installation.database.connect()
        let (process, client) = try begin(program) { _ in
            dump = try installation.database.dump()
            try holder.executeScript("START TRANSACTION; SELECT * FROM \(table) FOR UPDATE")
        }
        try process.wait(for: "the undo to stop at the lock") { try installation.database.hasLockWait(db) }
        process.kill()
        #expect(try process.waitForExit() == .signal(9))
        withExtendedLifetime(client) {}
        try holder.executeScript("ROLLBACK")
        try waitForTheDead()
        try expectUnchanged(since: dump)
        try expectUndone(program, isDone: false)
    }

    /// Before its commit reached the database, or between the commit and the answer.
    @Test(arguments: Program.allCases, [DatabaseProxy.Cut.beforeServer, .beforeAnswer])
    func aProcessKilledAtItsCommit(program: Program, cut: DatabaseProxy.Cut) throws {
        var dump = ""
        let (process, client) = try begin(program) { kill in
            dump = try installation.database.dump()
            proxy.cut(cut, meanwhile: kill)
        }
        if let client { #expect(try client.receiveAnswer() == nil) }
        #expect(try process.waitForExit() == .signal(9))
        #expect(proxy.cutsMade == 1)
        try waitForTheDead()
        if cut == .beforeServer { try expectUnchanged(since: dump) }
        try expectUndone(program, isDone: cut == .beforeAnswer)
    }
}
