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
        let front = try Front { $0.replacing(/send_timeout \d+s/, with: "send_timeout 600s") }
        let installation = try Installation([
            "MERGANSER_SOCKET": front.run.file("merganser.sock"), "MERGANSER_THREADS": "4",
        ])
        // 6 MB for each: more than the kernel keeps for a connection.
        try installation.database.connect().executeScript(
            """
            INSERT INTO users (id, anonymous) VALUES (1, FALSE), (2, FALSE);
            INSERT INTO paks (user_id, digest, scopes) VALUES
                (1, UNHEX(SHA2('lpk_live_ada', 256)), 'profile:read login_history:read'),
                (2, UNHEX(SHA2('lpk_live_bea', 256)), 'profile:read login_history:read');
            INSERT INTO login_events (user_id, event, user_agent)
                SELECT u.id, 'signed_in', REPEAT('鴨', 500) FROM users u JOIN seq_1_to_4000;
            """)
        let server = try installation.readyServer()
        defer { withExtendedLifetime((front, server)) {} }
        let slow = try ["ada", "bea", "ada", "bea"].map { name in
            let connection = try front.connect()
            let token = "Authorization: Bearer lpk_live_\(name)\r\n"
            try connection.send(Array("GET /api/v1/me/export HTTP/1.1\r\nHost: localhost\r\n\(token)\r\n".utf8))
            return connection
        }
        for connection in slow { #expect(connection.hasInput(within: .seconds(60))) }
        #expect(try front.get("/api/v1/me").status == 401)
        for connection in slow {
            let document = try JSONValue(json: connection.receiveAnswer().body)
            #expect(document["login_events"]?.array?.count == 4000)
        }
    }
}
