import Analytics
import JSON
import MariaDB
import TestSupport
import Testing
import Threads
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

    /// What a remembered key lets in is what is stored when the request begins (analytics §2.5): the statuses of a repeated
    /// claim, another user's claim of the id, properties and ingest.
    @Test(
        arguments: [
            ("UPDATE api_keys SET deleted_at = created_at", [401, 401, 401, 401]),
            ("UPDATE api_keys SET expires_at = created_at", [401, 401, 401, 401]),
            ("UPDATE api_keys SET secret_sha256 = RANDOM_BYTES(32)", [401, 401, 401, 401]),
            ("DELETE FROM api_keys", [401, 401, 401, 401]),
            ("UPDATE api_keys SET permissions = '[]'", [403, 403, 403, 403]),
            ("UPDATE api_keys SET permissions = '[\"events:write\"]'", [200, 200, 403, 200]),
            ("UPDATE api_keys SET key_type = 'import' WHERE app_id IS NOT NULL", [400, 400, 400, 200]),
            ("UPDATE apps SET deleted_at = created_at", [400, 400, 400, 400]),
            ("UPDATE apps SET bundle_id = 'COM.EXAMPLE'", [200, 200, 200, 403]),
            ("UPDATE projects SET deleted_at = created_at", [400, 400, 400, 400]),
            ("UPDATE projects SET claim_conflict = 'refuse'", [200, 409, 200, 200]),
            ("UPDATE apps SET name = 'Other'", [200, 200, 200, 200]),
        ] as [(StaticString, [Int])])
    func aRememberedKeyIsAsItIsNow(change: StaticString, statuses: [Int]) throws {
        _ = client.send(scene.claim("owl_anon_a", "u"))
        let keys = try (0..<4).map { _ in try scene.makeKey(.client) }
        for key in keys { #expect(client.send(scene.properties("u", [:], token: key)).status == 200) }
        try app.change(change)
        let before = try app.database.dump()
        let requests = [
            scene.claim("owl_anon_a", "u", token: keys[0]), scene.claim("owl_anon_a", "v", token: keys[1]),
            scene.properties("w", ["a": "b"], token: keys[2]),
            scene.ingest([scene.event("a", of: "x", id: 1)], token: keys[3]),
        ]
        let answers = requests.map { client.send($0) }
        #expect(answers.map(\.status) == statuses)
        if !statuses.contains(200) { #expect(try app.database.dump() == before) }
        // Now the keys were read.
        for (request, answer) in zip(requests, answers) where answer.status != 200 {
            #expect("\(client.send(request))" == "\(answer)")
        }
    }

    /// The platform that events are checked against is the app's present one.
    @Test func aRememberedKeysAppIsAsItIsNow() throws {
        func send(_ id: Int) -> JSONValue? {
            client.send(scene.ingest([scene.event("a", of: "u", id: id, ["environment": "ios"])]))["accepted"]
        }
        #expect(send(1) == 1)
        try app.change("UPDATE apps SET platform = 'android'")
        #expect(send(2) == 0)
        #expect(try scene.events() == ["a of u"])
    }

    @Test func whoeverHadAKeyIsToldSoFirst() throws {
        _ = client.send(scene.claim("owl_anon_a", "u"))
        try app.change("UPDATE api_keys SET deleted_at = created_at")
        let bodies: [JSONValue] = [[:], "text", ["anonymous_id": "x", "user_id": "y"]]
        for path in ["/v1/identity/claim", "/v1/identity/properties", "/v1/ingest"] {
            for body in bodies {
                #expect("\(client.send(scene.post(path, body)))" == refusal(401, "Invalid API key"))
            }
        }
    }

    /// Revoking beside ingest, claims and properties: once it is committed, no request that starts lets anything in, and
    /// what was accepted before is stored.
    @Test func aKeyIsRevokedMeanwhile() throws {
        for round in 0..<4 {
            let key = try scene.makeKey(.client)
            let isRevoked = Monitor(false)
            let accepted = Monitor(0)
            let threads = (0..<8).map { number in
                Thread { [app, scene] in
                    let client = app.client(ofNode: number)
                    var id = 1_000_000 * (round + 1) + 10_000 * number
                    for _ in 0..<2_000 {
                        let wasRevoked = isRevoked.withLock { $0 }
                        id += 1
                        let ingest = scene.ingest([scene.event("m", of: "u\(number % 3)", id: id)], token: key)
                        let status = client.send(ingest).status
                        let others = [
                            scene.claim(.string("owl_anon_\(number)"), "u", token: key),
                            scene.properties("u", ["n": .string("\(id)")], token: key),
                        ].map { client.send($0).status }
                        #expect(!wasRevoked || [status] + others == [401, 401, 401])
                        #expect(([status] + others).allSatisfy { $0 == 200 || $0 == 401 })
                        if status == 200 { accepted.change { $0 += 1 } }
                        if wasRevoked { break }
                    }
                }
            }
            while accepted.withLock({ $0 }) < 40 {}
            try app.change("UPDATE api_keys SET deleted_at = created_at WHERE last4 = ?", String(key.suffix(4)))
            try app.database.settle()
            isRevoked.change { $0 = true }
            threads.forEach { $0.join() }
            let stored = try app.count(
                "SELECT COUNT(*) FROM events e JOIN api_keys k ON k.id = e.api_key_id WHERE k.last4 = ?",
                String(key.suffix(4)))
            #expect(stored == accepted.withLock { $0 })
        }
        try scene.expectClean()
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
