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
}
