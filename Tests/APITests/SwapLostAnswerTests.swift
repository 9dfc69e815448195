import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// A swap whose answer never arrives, repeated under its Idempotency-Key (accounts §0.5, §1.9).
@Suite struct SwapLostAnswerTests {
    static let unavailable = #"503 {"error":"temporarily_unavailable"}"#

    let proxy: DatabaseProxy
    let app: TestApp
    let scene: SwapScene
    let a: Phone
    let b: IdentifiedUser
    let invariants: SwapInvariants

    init() throws {
        let database = try TestDatabase()
        guard case .unixSocket(let socket) = database.options.address else { throw NoSocket() }
        proxy = try DatabaseProxy(to: socket)
        app = try TestApp(database: database, options: proxy.options(for: database.options))
        scene = try SwapScene(app)
        a = try scene.anonymous()
        b = try scene.identified()
        try scene.exampleAssets(of: a, beside: b)
        invariants = try SwapInvariants(scene)
    }

    private struct NoSocket: Error {}

    @Test func theRepeatGetsTheSameBytes() throws {
        let request = try scene.swapRequest(a, into: b, key: "key", ifMatch: "*")
        let first = scene.client.send(request)
        let after = try app.database.dump()
        for _ in 0..<2 {
            let again = app.client().send(request)
            #expect(again.status == 200)
            #expect(again.text == first.text)
            #expect(again.header("Idempotency-Replayed") == "true")
            #expect(again.header("Cache-Control") == "no-store")
            #expect(again.header("Content-Type") == "application/json")
        }
        #expect(first.header("Idempotency-Replayed") == nil)
        #expect(try app.database.dump() == after)
        try invariants.check([DoneSwap(from: a.userID, into: b.id)])
        // The answer is as good as the first: B acts on the device.
        let me = scene.client.send(.get, "/api/v1/me", token: first["access_token"]?.string)
        #expect(me["user"]?["id"]?.integer == b.id)
    }

    @Test func forTenMinutes() throws {
        let request = try scene.swapRequest(a, into: b, key: "key")
        let first = scene.client.send(request)
        app.time.advance(by: .milliseconds(599_999))
        #expect(scene.client.send(request).text == first.text)
        app.time.advance(by: .milliseconds(1))
        #expect(scene.client.send(request).description == #"401 {"error":"invalid_token"}"#)
    }

    @Test func onlyTheSameRequestOfTheSameCaller() throws {
        let request = try scene.swapRequest(a, into: b, key: "key")
        #expect(scene.client.send(request).status == 200)
        let reused = #"422 {"error":"idempotency_key_reused"}"#
        var other = request
        other.body = request.body?.adding(["platform": "ios"])
        #expect(scene.client.send(other).description == reused)
        other = request
        other.headers.append(("if-match", "*"))
        #expect(scene.client.send(other).description == reused)
        other = request
        other.path = "/api/v1/me/connected_identities"
        #expect(scene.client.send(other).description == reused)
        // Nobody else's key is the same key.
        for token in ["lpk_live_other", String(a.token.dropLast()), nil] {
            other = request
            other.token = token
            #expect(scene.client.send(other).description == #"401 {"error":"invalid_token"}"#)
        }
        other = request
        other.headers = [("idempotency-key", "KEY")]
        #expect(scene.client.send(other).description == #"401 {"error":"invalid_token"}"#)
    }

    @Test func anotherCallerMayUseTheSameKey() throws {
        let second = try scene.anonymous()
        let first = scene.client.send(try scene.swapRequest(a, into: b, key: "key"))
        let other = scene.client.send(try scene.swapRequest(second, into: b, key: "key"))
        #expect(other.status == 200)
        #expect(other.header("Idempotency-Replayed") == nil)
        #expect(other.text != first.text)
    }

    @Test func refusalsLeaveTheKeyFree() throws {
        let refused = scene.client.send(try scene.swapRequest(a, into: b, key: "key", ifMatch: "other"))
        #expect(refused.status == 412)
        let answer = scene.client.send(try scene.swapRequest(a, into: b, key: "key"))
        #expect(answer.status == 200)
        #expect(answer.header("Idempotency-Replayed") == nil)
    }

    // The connection to the database is cut at COMMIT.

    @Test func theAnswerToCommitIsLost() throws {
        let request = try scene.swapRequest(a, into: b, key: "key")
        proxy.cut(.beforeAnswer)
        let first = scene.client.send(request)
        #expect(proxy.cutsMade == 1)
        #expect(app.statistics.unknownOutcomes.value == 1)
        // The record tells that it was committed.
        #expect(first.status == 200)
        let again = scene.client.send(request)
        #expect(again.text == first.text)
        #expect(again.header("Idempotency-Replayed") == "true")
        try invariants.check([DoneSwap(from: a.userID, into: b.id)])
        #expect(try scene.ids("SELECT id FROM paks WHERE user_id = ?", b.id).count == 1)
    }

    @Test func commitNeverReachesTheServer() throws {
        let request = try scene.swapRequest(a, into: b, key: "key")
        try app.expectUnchanged {
            proxy.cut(.beforeServer)
            let refused = scene.client.send(request)
            #expect(proxy.cutsMade == 1)
            #expect(refused.description == Self.unavailable)
            #expect(refused.header("Retry-After") == "1")
        }
        #expect(app.statistics.unknownOutcomes.value == 1)
        let answer = scene.client.send(request)
        #expect(answer.status == 200)
        #expect(answer.header("Idempotency-Replayed") == nil)
        try invariants.check([DoneSwap(from: a.userID, into: b.id)])
    }

    @Test(arguments: [true, false]) func withoutAKeyNobodyKnows(isCommitted: Bool) throws {
        let request = try scene.swapRequest(a, into: b)
        proxy.cut(isCommitted ? .beforeAnswer : .beforeServer)
        let refused = scene.client.send(request)
        #expect(proxy.cutsMade == 1)
        #expect(refused.description == Self.unavailable)
        #expect(refused.header("Retry-After") == "1")
        #expect(app.statistics.retries.value == 0)
        if isCommitted {
            try invariants.check([DoneSwap(from: a.userID, into: b.id)])
            #expect(scene.client.send(request).description == #"401 {"error":"invalid_token"}"#)
        } else {
            try invariants.check([])
            #expect(scene.client.send(request).status == 200)
            try invariants.check([DoneSwap(from: a.userID, into: b.id)])
        }
    }
}
