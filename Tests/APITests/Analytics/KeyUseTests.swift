import Analytics
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// When a key is valid, and what is noted of its use (analytics §2.5).
@Suite struct KeyUseTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
    }

    @Test func aKeyExpiresOnTime() throws {
        let key = try scene.makeKey(.client, expiresAt: app.time.now + .seconds(60))
        #expect(client.send(scene.claim("owl_anon_a", "u", token: key)).status == 200)
        app.time.advance(by: .milliseconds(59_999))
        #expect(client.send(scene.claim("owl_anon_a", "u", token: key)).status == 200)
        app.time.advance(by: .milliseconds(1))
        #expect("\(client.send(scene.claim("owl_anon_a", "u", token: key)))" == refusal(401, "API key expired"))
    }

    @Test func theUseOfAKeyIsNotedOnceAMinute() throws {
        func lastUsed() throws -> [String] {
            try app.column("SELECT CAST(last_used_at AS CHAR) FROM api_keys WHERE key_type = 'client'")
        }
        #expect(try lastUsed() == ["NULL"])
        _ = client.send(scene.claim("owl_anon_a", "u"))
        let first = try lastUsed()
        #expect(first != ["NULL"])
        app.time.advance(by: .milliseconds(59_999))
        _ = client.send(scene.claim("owl_anon_a", "u"))
        #expect(try lastUsed() == first)
        app.time.advance(by: .milliseconds(1))
        _ = client.send(scene.claim("owl_anon_a", "u"))
        #expect(try lastUsed() != first)
    }

    @Test func aKeyThatSomebodyElseLocksIsNoReasonToWait() throws {
        let db = try app.database.connect()
        try db.begin()
        _ = try db.all("SELECT last4 FROM api_keys FOR UPDATE") { row in try row.read(String.self) }
        let status = try app.withPatientClient { $0.send(scene.claim("owl_anon_a", "u")).status }
        #expect(status == 200)
        try db.rollback()
    }
}
