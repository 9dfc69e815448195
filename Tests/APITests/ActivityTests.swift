import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// `last_active_at` (accounts §0.6).
@Suite struct ActivityTests {
    let app: TestApp
    let client: Client
    let phone: Phone

    init() throws {
        app = try TestApp()
        client = app.client()
        phone = try client.signIn(app.proof("ada"), on: 1)
    }

    private var lastActive: Timestamp? {
        get throws {
            try app.database.connect().first("SELECT last_active_at FROM users WHERE id = ?", phone.userID) { row in
                try row.read()
            }
        }
    }

    @Test func everyUseMovesItAtMostOnceAnHour() throws {
        let link = "/api/v1/me/connected_identities"
        let proof = app.proof("ada").adding(["provider": "apple"])
        let uses: [(String, () throws -> Int)] = [
            ("read", { client.send(.get, "/api/v1/me", token: phone.token).status }),
            ("write", { client.send(.patch, "/api/v1/me", ["name": "Ada"], token: phone.token).status }),
            ("refusal", { client.send(.post, "/api/v1/me/anonymous_swap", token: phone.token).status }),
            ("link", { client.send(.post, link, proof, token: phone.token).status }),
            ("refused link", { client.send(.post, link, token: phone.token).status }),
            (
                "bootstrap",
                {
                    _ = try client.reopen(phone); return 200
                }
            ),
            ("session", { client.send(.post, "/auth/apple/session", app.proof("ada")).status }),
        ]
        for (name, use) in uses {
            let before = try #require(try lastActive)
            app.time.advance(by: .seconds(3599))
            #expect(try use() < 500, "\(name)")
            #expect(try lastActive == before, "\(name)")
            app.time.advance(by: .seconds(1))
            #expect(try use() < 500, "\(name)")
            #expect(try lastActive == app.time.now, "\(name)")
            _ = try client.reopen(phone)
        }
    }

    @Test func nobodyElsesMoves() throws {
        let other = try client.bootstrap(2)
        app.time.advance(by: .seconds(7200))
        _ = client.send(.get, "/api/v1/me", token: other.token)
        #expect(try lastActive != app.time.now)
    }

    @Test func itsFailureFailsNothing() throws {
        app.time.advance(by: .seconds(3600))
        let before = try lastActive
        let db = try app.database.connect()
        // The row is somebody's.
        try db.executeScript("BEGIN; SELECT * FROM users FOR UPDATE")
        let noted = try app.withPatientClient { $0.send(.get, "/api/v1/me", token: phone.token).status }
        #expect(noted == 200)
        try db.executeScript("ROLLBACK")
        // It cannot be written.
        try db.executeScript("CREATE TRIGGER no BEFORE UPDATE ON users FOR EACH ROW SIGNAL SQLSTATE '45000'")
        #expect(client.send(.get, "/api/v1/me", token: phone.token).status == 200)
        #expect(try lastActive == before)
        try db.executeScript("DROP TRIGGER no")
        #expect(client.send(.get, "/api/v1/me", token: phone.token).status == 200)
        #expect(try lastActive == app.time.now)
    }
}
