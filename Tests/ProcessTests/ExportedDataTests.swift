import Fetch
import JSON
import MariaDB
import TestSupport
import Testing

/// Copies of one's data from a running server behind nginx (accounts §4.8).
@Suite struct ExportedDataTests {
    /// Nobody knows a length that was not read (RFC 9110 §9.3.2).
    @Test func headHasNoLengthAndDoesNotCount() throws {
        let front = try Front()
        let installation = try Installation(["MERGANSER_SOCKET": front.run.file("merganser.sock")])
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id, anonymous) VALUES (1, FALSE);
            INSERT INTO paks (user_id, digest, scopes) VALUES
                (1, UNHEX(SHA2('lpk_live_ada', 256)), 'profile:read login_history:read');
            """)
        let server = try installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let connection = try front.connect()
        func ask(_ method: String) throws -> HTTPConnection.Answer {
            try connection.ask(method, "/api/v1/me/export", headers: [("Authorization", "Bearer lpk_live_ada")])
        }
        for _ in 0..<3 {
            let (head, get) = (try ask("HEAD"), try ask("GET"))
            #expect(head.status == 200 && head.header("content-length") == nil)
            #expect(head.header("content-type") == get.header("content-type"))
            #expect(get.status == 200 && get.header("content-length") == "\(get.body.count)")
            #expect(try JSONValue(json: get.body)["account"]?["id"] == 1)
        }
        for method in ["HEAD", "GET"] { #expect(try ask(method).status == 429) }
    }

    /// As many as workers. A worker that waited for one of them would cut its answer in the end.
    @Test func slowReadersHoldNoWorker() throws {
        let front = try Front(adapting: Self.waiting)
        let server = try installation(behind: front).readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let slow = try ["ada", "bea", "ada", "bea"].map { try ask(of: $0, front) }
        for connection in slow { #expect(connection.hasInput(within: .seconds(60))) }
        #expect(try front.get("/api/v1/me").status == 401)
        for connection in slow { #expect(try events(in: connection.receiveAnswer()) == 4000) }
    }

    /// Each may fill a temporary file of nginx.
    @Test func aClientReadsSomeAtATime() throws {
        let front = try Front(.production) {
            Self.waiting($0).replacing("limit_conn merganser_downloads 16", with: "limit_conn merganser_downloads 1")
        }
        let server = try installation(behind: front).readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let slow = try ask(of: "ada", front)
        #expect(slow.hasInput(within: .seconds(60)))
        let refused = try ask(of: "ada", front).receiveAnswer()
        #expect(refused.status == 429 && refused.header("retry-after") == "1")
        #expect(try ask(of: "bea", front, from: "192.0.2.7").receiveAnswer().status == 200)
        #expect(try events(in: slow.receiveAnswer()) == 4000)
        // What was refused did not count.
        for status in [200, 200, 429] { #expect(try ask(of: "ada", front).receiveAnswer().status == status) }
    }

    // MARK: -

    /// Has nginx wait for slow clients for longer than a busy machine takes.
    private static func waiting(_ text: String) -> String {
        text.replacing(/send_timeout \d+s/, with: "send_timeout 600s")
    }

    /// With two people whose copies are 6 MB each: more than the kernel keeps for a connection.
    private func installation(behind front: Front) throws -> Installation {
        let installation = try Installation([
            "MERGANSER_SOCKET": front.run.file("merganser.sock"), "MERGANSER_THREADS": "4",
        ])
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id, anonymous) VALUES (1, FALSE), (2, FALSE);
            INSERT INTO paks (user_id, digest, scopes) VALUES
                (1, UNHEX(SHA2('lpk_live_ada', 256)), 'profile:read login_history:read'),
                (2, UNHEX(SHA2('lpk_live_bea', 256)), 'profile:read login_history:read');
            INSERT INTO login_events (user_id, event, user_agent)
                SELECT u.id, 'signed_in', REPEAT('鴨', 500) FROM users u JOIN seq_1_to_4000;
            """)
        return installation
    }

    /// Asks for a copy, and reads nothing of it.
    private func ask(of name: String, _ front: Front, from address: String = "192.0.2.1") throws -> HTTPConnection {
        let connection = try front.connect()
        let fields = ["Host: localhost", "X-Forwarded-For: \(address)", "Authorization: Bearer lpk_live_\(name)"]
        let head = ["GET /api/v1/me/export HTTP/1.1"] + fields
        try connection.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        return connection
    }

    private func events(in answer: HTTPConnection.Answer) throws -> Int? {
        try JSONValue(json: answer.body)["login_events"]?.array?.count
    }
}
