import JSON
import MariaDB
import OpenSSL
import TestSupport
import Testing

/// A server that dies in the middle of a refresh (accounts §3.8).
@Suite struct KilledRefreshTests {
    private static let token = "refresh-token"

    private let installation: Installation
    private let proxy: DatabaseProxy
    private let db: Connection

    /// With one family, whose current token is `token`.
    init() throws {
        let database = try TestDatabase()
        guard case .unixSocket(let socket) = database.options.address else {
            throw TestSupportError("the tests' database is not on a unix socket")
        }
        proxy = try DatabaseProxy(to: socket)
        installation = try Installation(database: database, ["MERGANSER_DATABASE_SOCKET": proxy.socket])
        for word in ["generate", "activate"] {
            #expect(try installation.tool("signing-key", word).exit == .status(0))
        }
        db = try database.connect()
        try db.executeScript(
            """
            INSERT INTO users (id, anonymous) VALUES (1, FALSE);
            INSERT INTO applications (id, client_id, name, client_type, allowed_scopes, status)
                VALUES (1, 'notes', 'Notes', 'public', 'openid', 'active');
            INSERT INTO grants (id, user_id, application_id, sub, scopes) VALUES (1, 1, 1, '1', 'openid');
            INSERT INTO refresh_families
                (id, grant_id, handle, scopes, authenticated_at, current_digest, current_expires_at)
                VALUES (1, 1, REPEAT('h', 16), 'openid', NOW(3), UNHEX(SHA2('\(Self.token)', 256)),
                        NOW(3) + INTERVAL 30 DAY);
            INSERT INTO refresh_tokens (digest, refresh_family_id, expires_at)
                SELECT current_digest, id, current_expires_at FROM refresh_families;
            """)
    }

    /// The token request of an app that wrote its key down before.
    private func request(_ token: String) -> [UInt8] {
        FastCGIClient.request(
            "POST", "/oauth/token",
            headers: [
                ("CONTENT_TYPE", "application/x-www-form-urlencoded"),
                ("HTTP_IDEMPOTENCY_KEY", "a-key-of-22-characters"),
            ], body: Array("grant_type=refresh_token&client_id=notes&refresh_token=\(token)".utf8), keep: false)
    }

    private func refresh(_ token: String) throws -> FastCGIClient.Answer? {
        let client = try FastCGIClient(installation.directory.file("fastcgi.sock"))
        try client.send(request(token))
        return try client.receiveAnswer()
    }

    /// Killed before its commit reached the database, or between the commit and the answer; an hour later the app asks the
    /// next server.
    @Test(arguments: [DatabaseProxy.Cut.beforeServer, .beforeAnswer])
    func nobodyIsSignedOut(cut: DatabaseProxy.Cut) throws {
        let server = try installation.readyServer()
        proxy.cut(cut) { server.kill() }
        #expect(try refresh(Self.token) == nil)
        #expect(try server.waitForExit() == .signal(9))
        #expect(proxy.cutsMade == 1)
        let isCommitted = try count("SELECT COUNT(*) FROM refresh_families WHERE predecessor_digest IS NOT NULL") == 1
        #expect(isCommitted == (cut == .beforeAnswer))
        try db.execute(
            """
            UPDATE refresh_families SET answer_expires_at = answer_expires_at - INTERVAL 1 HOUR,
                                        answer_key_expires_at = answer_key_expires_at - INTERVAL 1 HOUR
            """)

        let next = try installation.readyServer()
        let first = try #require(try refresh(Self.token))
        #expect(first.status == 200)
        #expect(try refresh(Self.token)?.body == first.body)
        let successor = try #require(try JSONValue(json: first.body)["refresh_token"]?.string)
        let current = try db.first("SELECT current_digest FROM refresh_families") { row in try row.read([UInt8].self) }
        #expect(current == sha256(successor.utf8))
        #expect(try refresh(successor)?.status == 200)
        #expect(try count("SELECT COUNT(*) FROM webhook_outbox") == 0)
        #expect(next.isRunning)
    }

    private func count(_ sql: StaticString) throws -> Int {
        try #require(try db.first(sql) { row in try row.read(Int.self) })
    }
}
