import Foundation
import JSON
import MariaDB
import TestSupport
import Testing

/// Signals, replacement, inherited listeners, the service manager.
@Suite struct ServerLifeTests {
    @Test func drainsOnSIGTERM() throws {
        let installation = try Installation()
        let server = try installation.readyServer()
        let kept = try FastCGIClient(installation.directory.file("fastcgi.sock"))
        #expect(try kept.ask("GET", "/api/v1/me")?.status == 401)

        server.terminate()
        try server.wait(for: "draining") { try installation.missing() == ["draining"] }
        #expect(try installation.control("/readyz")?.status == 503)
        #expect(try kept.ask("GET", "/api/v1/me")?.status == 401)
        kept.finishSending()
        #expect(try kept.receiveEnd())

        #expect(try server.waitForExit() == .status(0))
        let stopped = try #require(try server.log.last)
        #expect(stopped["message"] == "stopped")
        #expect(stopped["requests"] == 2)
        #expect(stopped["cut"] == 0)
        #expect(!installation.exists("fastcgi.sock") && !installation.exists("control.sock"))
    }

    @Test func cutsWhatIsOpenAtTheLimit() throws {
        let installation = try Installation(["MERGANSER_DRAIN_LIMIT_SECONDS": "1"])
        let server = try installation.readyServer()
        let kept = try FastCGIClient(installation.directory.file("fastcgi.sock"))
        #expect(try kept.ask("GET", "/api/v1/me")?.status == 401)
        server.send(SIGINT)
        #expect(try server.waitForExit() == .status(0))
        let stopped = try #require(try server.log.last { $0["cut"] != nil })
        #expect(stopped["level"] == "warning")
        #expect(stopped["cut"] == 1)
    }

    @Test func aSecondInstanceTakesOver() throws {
        let installation = try Installation(["MERGANSER_INSTANCE": "blue"])
        let blue = try installation.readyServer()
        let (pak, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000002")
        let green = try installation.readyServer(setting: [
            "MERGANSER_INSTANCE": "green", "MERGANSER_CONTROL_SOCKET": installation.directory.file("green.sock"),
        ])
        blue.terminate()
        #expect(try blue.waitForExit() == .status(0))
        let authorization = [("HTTP_AUTHORIZATION", "Bearer \(pak)")]
        #expect(try installation.ask("GET", "/api/v1/me", headers: authorization).status == 200)
        #expect(try installation.control("/healthz", of: "green.sock")?.body["instance"] == "green")
        #expect(green.isRunning)
    }

    @Test func aKilledInstanceIsReplaced() throws {
        let installation = try Installation()
        let first = try installation.readyServer()
        let (pak, _) = try installation.bootstrap("00000000-0000-0000-0000-000000000003")
        first.kill()
        #expect(try first.waitForExit() == .signal(SIGKILL))
        #expect(installation.exists("fastcgi.sock"))

        let second = try installation.readyServer()
        let authorization = [("HTTP_AUTHORIZATION", "Bearer \(pak)")]
        #expect(try installation.ask("GET", "/api/v1/me", headers: authorization).status == 200)
        #expect(second.isRunning)
    }

    @Test func servesAnInheritedListenerAndLeavesItToItsOwner() throws {
        let installation = try Installation(["MERGANSER_SOCKET": "/nowhere/unused.sock"])
        let listener = try Listener(installation.directory.file("fastcgi.sock"))
        let first = try installation.readyServer(socket: listener.descriptor)
        #expect(try installation.ask("GET", "/api/v1/me").status == 401)
        first.kill()
        try first.waitForExit()

        // Waits in the queue until somebody serves again.
        let waiting = try FastCGIClient(installation.directory.file("fastcgi.sock"))
        try waiting.send(FastCGIClient.request("GET", "/api/v1/me", keep: false))
        let second = try installation.readyServer(socket: listener.descriptor)
        #expect(try waiting.receiveAnswer()?.status == 401)
        second.terminate()
        #expect(try second.waitForExit() == .status(0))
        #expect(installation.exists("fastcgi.sock"))
    }

    @Test func servesTheListenerOnDescriptorZero() throws {
        let installation = try Installation(["MERGANSER_SOCKET": "/nowhere/unused.sock"])
        let listener = try Listener(installation.directory.file("fastcgi.sock"))
        let server = try installation.server(input: listener.descriptor)
        try server.wait(for: "readiness") { try installation.missing() == [] }
        #expect(try installation.ask("GET", "/api/v1/me").status == 401)
    }

    @Test func ignoresSIGHUP() throws {
        let installation = try Installation()
        let server = try installation.readyServer()
        server.send(SIGHUP)
        try server.wait(for: "a line about it") { server.errorOutput.contains("SIGHUP is ignored") }
        #expect(try installation.ask("GET", "/api/v1/me").status == 401)
    }

    @Test func tellsTheServiceManager() throws {
        let installation = try Installation()
        let manager = try NotifySocket(installation.directory.file("notify.sock"))
        // Until then the server cannot look at the schema, and waits.
        let gate = try installation.database.connect()
        try gate.executeScript("LOCK TABLES schema_migrations WRITE")
        let server = try installation.server(setting: [
            "NOTIFY_SOCKET": installation.directory.file("notify.sock"), "WATCHDOG_USEC": "100000",
        ])
        let starting = try manager.wait(for: "EXTEND_TIMEOUT_USEC=10000000")
        #expect(!starting.contains("READY=1"))
        try gate.executeScript("UNLOCK TABLES")
        _ = try manager.wait(for: "READY=1")
        _ = try manager.wait(for: "WATCHDOG=1")
        server.terminate()
        _ = try manager.wait(for: "STOPPING=1")
        #expect(try server.waitForExit() == .status(0))
    }

    @Test func logsRequestsAtDebugWithoutSecrets() throws {
        let installation = try Installation(["MERGANSER_LOG_LEVEL": "debug", "MERGANSER_INSTANCE": "blue"])
        let server = try installation.readyServer()
        let (pak, secret) = try installation.bootstrap("00000000-0000-0000-0000-000000000004")
        let answer = try installation.ask(
            "GET", "/api/v1/me",
            headers: [("HTTP_AUTHORIZATION", "Bearer \(pak)"), ("REQUEST_ID", "0123456789abcdef0123456789abcdef")])
        #expect(answer.status == 200)
        #expect(answer.header("X-Request-Id") == "0123456789abcdef0123456789abcdef")
        try server.wait(for: "its line") { try server.log.count { $0["message"] == "request" } == 2 }
        let line = try #require(try server.log.last { $0["message"] == "request" })
        #expect(line["request_id"] == "0123456789abcdef0123456789abcdef")
        #expect(line["instance"] == "blue")
        #expect(line["status"] == "200")
        for text in [pak, secret, String(repeating: "c4", count: 32)] { #expect(!server.errorOutput.contains(text)) }
    }
}
