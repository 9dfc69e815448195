import Foundation
import IdentityTokens
import JSON
import MariaDB
import Synchronization
import TestSupport
import Testing
import Threads

/// Servers that are not ready, and their recovery.
@Suite struct ServerReadinessTests {
    @Test func waitsForTheDatabaseAndServesWhenItComes() throws {
        let installation = try Installation()
        let link = installation.directory.file("mariadb.sock")
        let server = try installation.server(setting: ["MERGANSER_DATABASE_SOCKET": link])
        try server.wait(for: "a look at the database") {
            try installation.missing() == ["database"] && server.log.contains { $0["level"] == "warning" }
        }
        let ready = try #require(try installation.control("/readyz"))
        #expect(ready.status == 503)
        #expect(ready.body["ready"] == false)
        #expect(ready.body["missing"]?.array?.first?["problem"]?.string?.contains(link) == true)
        #expect(try installation.control("/healthz")?.status == 200)
        #expect(!installation.exists("fastcgi.sock"))

        try connectDatabase(installation, at: link)
        try server.wait(for: "readiness") { try installation.missing() == [] && server.logged("serving") }
        #expect(try installation.ask("GET", "/api/v1/me").status == 401)
        #expect(try server.logged("database answers"))
    }

    @Test func recoversWhenTheDatabaseComesBack() throws {
        let installation = try Installation()
        let link = installation.directory.file("mariadb.sock")
        try connectDatabase(installation, at: link)
        let server = try installation.readyServer(setting: ["MERGANSER_DATABASE_SOCKET": link])
        let (pak, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000001")
        let authorization = [("HTTP_AUTHORIZATION", "Bearer \(pak)")]
        #expect(try installation.ask("GET", "/api/v1/me", headers: authorization).status == 200)

        try FileManager.default.removeItem(atPath: link)
        try cutConnections(installation)
        let refused = try installation.ask("GET", "/api/v1/me", headers: authorization)
        #expect(refused.status == 503)
        #expect(String(decoding: refused.body, as: UTF8.self) == #"{"error":"temporarily_unavailable"}"#)
        #expect(refused.header("Retry-After") == "1")
        try server.wait(for: "its absence to be seen") { try installation.missing() == ["database"] }
        #expect(try installation.control("/healthz")?.status == 200)

        try connectDatabase(installation, at: link)
        try server.wait(for: "readiness") { try installation.missing() == [] }
        #expect(try installation.ask("GET", "/api/v1/me", headers: authorization).status == 200)
        #expect(!server.errorOutput.contains(pak))
    }

    @Test func isNotReadyBeforeNginxReachesIt() throws {
        let installation = try Installation()
        let folder = installation.directory.file("front")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        // Sockets in a folder change hands under a lock on it.
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        let server = try installation.server(setting: ["MERGANSER_SOCKET": "\(folder)/fastcgi.sock"])
        try server.wait(for: "everything else") { try installation.missing() == ["socket"] }
        #expect(!installation.exists("front/fastcgi.sock"))
        #expect(flock(lock, LOCK_UN) == 0)
        try server.wait(for: "readiness") { try installation.missing() == [] }
        #expect(installation.exists("front/fastcgi.sock"))
    }

    /// A cold start: there is no stored key set, and the provider refuses connections, or accepts them and sends
    /// nothing.
    @Test(arguments: [false, true]) func servesWithoutAKeySet(takesConnections: Bool) throws {
        let reply = Mutex(LocalHTTPServer.Reply.silence)
        let provider = try LocalHTTPServer { _ in reply.withLock { $0 } }
        let google = TestIssuer(.google)
        let googleKeys = try google.serve()
        let installation = try Installation([
            "MERGANSER_APPLE_JWKS_URL": takesConnections ? "\(provider.url)/keys" : "http://127.0.0.1:1/keys",
            "MERGANSER_GOOGLE_JWKS_URL": "\(googleKeys.url)/keys", "MERGANSER_GOOGLE_AUDIENCES": google.audience,
        ])
        for command in ["generate", "activate"] {
            #expect(try installation.tool("signing-key", command).exit == .status(0))
        }
        let server = try installation.server()
        try server.wait(for: "readiness") {
            try server.logged("serving") && installation.missing() == ["key_set_apple"]
        }
        let ready = try #require(try installation.control("/readyz"))
        #expect(ready.status == 200 && ready.body["ready"] == true && ready.body["degraded"] == true)
        let metrics = String(decoding: try installation.ask("GET", "/metrics", at: "control.sock").body, as: UTF8.self)
        #expect(metrics.contains("merganser_ready 1\n"))
        #expect(metrics.contains(#"merganser_key_set_ready{provider="apple"} 0"#))

        // More sign-ins than there are workers: at most one of four waits, so that everybody else is served.
        let statuses = Monitor<[Int?]>([])
        let signIns = (0..<8).map { _ in
            Thread {
                let status = try? signIn(.apple, installation).status
                statuses.change { $0.append(status) }
            }
        }
        let (pak, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000001")
        let authorization = [("HTTP_AUTHORIZATION", "Bearer \(pak)")]
        #expect(try installation.ask("GET", "/api/v1/me", headers: authorization).status == 200)
        for path in ["/.well-known/openid-configuration", "/.well-known/jwks.json"] {
            #expect(try installation.ask("GET", path).status == 200, "\(path)")
        }
        let question = [("QUERY_STRING", "client_id=x&format=json")]
        #expect(try installation.ask("GET", "/diagnose", headers: question).status == 200)
        #expect(try [400, 401].contains(installation.ask("POST", "/oauth/token", body: "grant_type=x").status))
        #expect(try installation.ask("GET", "/v1/events").status == 401)
        #expect(try signIn(.google, installation, google).status == 200)
        signIns.forEach { $0.join() }
        #expect(statuses.withLock { $0 } == Array(repeating: 503, count: 8))
        try server.wait(for: "a line about it") {
            try server.log.contains { $0["provider"] == "apple" && $0["level"] == "warning" }
        }

        guard takesConnections else { return }
        reply.withLock { $0 = .response(body: installation.issuer.keySetJSON) }
        // It may have been waiting for a minute.
        try server.wait(for: "the key set", atMost: .seconds(180)) { try installation.missing() == [] }
        #expect(try installation.control("/readyz")?.body["degraded"] == nil)
        #expect(try signIn(.apple, installation).status == 200)
    }

    private func signIn(
        _ provider: Provider, _ installation: Installation, _ issuer: TestIssuer? = nil
    ) throws -> FastCGIClient.Answer {
        let token = (issuer ?? installation.issuer).token()
        let answer = try installation.ask(
            "POST", "/api/v1/auth/\(provider.rawValue)/session",
            body: #"{"identity_token":"\#(token)","raw_nonce":"nonce"}"#)
        if answer.status == 503 {
            #expect(String(decoding: answer.body, as: UTF8.self) == #"{"error":"temporarily_unavailable"}"#)
        }
        return answer
    }

    @Test func startsColdWithTheKeySetsOfLastTime() throws {
        let issuer = TestIssuer(.apple)
        var keySets: LocalHTTPServer? = try issuer.serve()
        let url = "\(try #require(keySets).url)/keys"
        let installation = try Installation(["MERGANSER_APPLE_JWKS_URL": url])
        let first = try installation.readyServer()
        first.terminate()
        #expect(try first.waitForExit() == .status(0))

        keySets = nil
        let second = try installation.readyServer()
        #expect(second.isRunning)
    }

    /// Makes the database reachable under another path.
    private func connectDatabase(_ installation: Installation, at path: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: path, withDestinationPath: try #require(installation.environment["MERGANSER_DATABASE_SOCKET"]))
    }

    /// Kills every connection to the installation's schema.
    private func cutConnections(_ installation: Installation) throws {
        let connection = try installation.database.connect()
        let others = try connection.all(
            "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = ? AND ID <> CONNECTION_ID()",
            installation.database.name
        ) { row in try row.read(Int.self) }
        for id in others { try connection.executeScript("KILL CONNECTION \(id)") }
    }
}
