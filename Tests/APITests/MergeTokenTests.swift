import HTTP
import JSON
import OpenSSL
import TestSupport
import Testing
import Time

@testable import Accounts

/// POST /api/v1/me/merge/session-token (accounts §3.1).
@Suite struct MergeTokenTests {
    let app: TestApp
    let scene: SwapScene
    let member: Member

    init() throws {
        app = try TestApp()
        scene = try SwapScene(app)
        member = try scene.member()
    }

    private func issue(_ body: JSONValue? = nil, as token: String? = nil, key: String? = nil) -> Answer {
        scene.client.send(
            .post, "/api/v1/me/merge/session-token", body, token: token ?? member.token,
            headers: key.map { [("idempotency-key", $0)] } ?? [])
    }

    private func issued(_ body: JSONValue? = nil, as token: String? = nil) throws -> String {
        try #require(issue(body, as: token)["session_token"]?.string)
    }

    @Test func itIsGoodForFiveMinutes() throws {
        let answer = issue()
        let token = try #require(answer["session_token"]?.string, "\(answer)")
        #expect(token.wholeMatch(of: /ltgt_[A-Za-z0-9_-]{43}/) != nil)
        #expect(answer.text == #"{"session_token":"\#(token)","expires_at":"2026-05-12T07:05:00Z"}"#)
        #expect(answer.header("Cache-Control") == "no-store")
        let stored = try app.column("SELECT CONCAT(user_id) FROM merge_tokens WHERE digest = ?", sha256(token.utf8))
        #expect(stored == ["\(member.id)"])
        #expect(try issued() != token)
        // Nobody asked for it again, so that there is no copy.
        #expect(try app.count("SELECT COUNT(sealed_token) + COUNT(copy_expires_at) FROM merge_tokens") == 0)
    }

    /// Also if the merge is undone: whoever takes it back does not want another.
    @Test func aMergeVoidsTheOthers() throws {
        let tokens = [try issued(), try issued()]
        let answers = try tokens.map { token in
            let survivor = try scene.member()
            let answer = scene.client.send(
                .post, "/api/v1/me/merge", ["target_session_token": .string(token)], token: survivor.token)
            if answer.status == 200 { try app.undo(try answer.merge()) }
            return answer.status
        }
        #expect(answers == [200, 401])
    }

    @Test func sixtyAnHourForAUser() throws {
        let first = try issued(["idempotency_key": "first"])
        for _ in 1..<60 { #expect(issue().status == 200) }
        let refused = issue()
        #expect("\(refused)" == refusal(429, "rate_limited"))
        #expect(refused.header("Retry-After") == "3600")
        #expect(try issued(["idempotency_key": "first"]) == first, "one that is there already is no new one")
        #expect(try app.count("SELECT COUNT(*) FROM merge_tokens") == 60)
        app.time.advance(by: .seconds(3600))
        #expect(issue().status == 200)
    }

    @Test func anAnonymousAccountHasOne() throws {
        #expect(issue(as: try scene.anonymous().token).status == 200)
    }

    @Test func oneKeyReturnsOneToken() throws {
        let first = issue(["idempotency_key": "a"])
        app.time.advance(by: .milliseconds(299_999))
        #expect(issue(["idempotency_key": "a"]).text == first.text)
        #expect(try issued(["idempotency_key": "A"]) != first["session_token"]?.string)
        #expect(try issued(["idempotency_key": "a"], as: scene.member().token) != first["session_token"]?.string)
        app.time.advance(by: .milliseconds(1))
        #expect(try issued(["idempotency_key": "a"]) != first["session_token"]?.string, "it has expired")
    }

    @Test func aUsedTokenIsNotReturnedAgain() throws {
        let token = try issued(["idempotency_key": "a"])
        // The link is undone by hand, so that the account lives on.
        #expect(scene.client.send(scene.mergeRequest(try scene.member(), token)).status == 200)
        #expect(try app.count("SELECT COUNT(sealed_token) + COUNT(copy_expires_at) FROM merge_tokens") == 0)
        try app.change("DELETE FROM identity_links")
        try app.change("UPDATE paks SET revoked_at = NULL WHERE user_id = ?", member.id)
        #expect(try issued(["idempotency_key": "a"]) != token)
    }

    @Test func aLostAnswerIsRepeatedUnderTheHeaderToo() throws {
        let first = issue(key: "key")
        let again = issue(key: "key")
        #expect(again.text == first.text && again.header("Idempotency-Replayed") == "true")
        #expect(try app.count("SELECT COUNT(*) FROM merge_tokens") == 1)
    }

    @Test func sixteenAtOnceGetOneToken() throws {
        let body: JSONValue = ["idempotency_key": "key"]
        let token = member.token
        let answers = app.atOnce(16) { client, _ in
            client.send(.post, "/api/v1/me/merge/session-token", body, token: token)
        }
        #expect(answers.allSatisfy { $0.status == 200 })
        #expect(Set(answers.map(\.text)).count == 1)
        #expect(try app.count("SELECT COUNT(*) FROM merge_tokens") == 1)
    }

    @Test func whatIsNoKey() throws {
        for body in ["[]", "{", #"{"idempotency_key":1}"#, #"{"idempotency_key":"\ud800"}"#] {
            let answer = scene.client.send(
                .post, "/api/v1/me/merge/session-token", bytes: Array(body.utf8), token: member.token)
            #expect(answer.description == #"400 {"error":"invalid_request"}"#, "\(body)")
        }
        #expect(issue(["idempotency_key": .null]).status == 200)
        #expect(issue().status == 200)
    }

    @Test func itsCopyIsErasedWhenItExpiresAndTheTokenAMonthLater() throws {
        _ = issue(["idempotency_key": "a"])
        func collect(_ kind: Garbage) throws -> Int {
            try app.operate { try $0.collect(kind, loginHistory: .seconds(1)) }
        }
        #expect(try collect(.mergeTokenCopies) == 0)
        app.time.advance(by: .seconds(300))
        #expect(try collect(.mergeTokenCopies) == 1)
        #expect(try app.count("SELECT COUNT(sealed_token) + COUNT(copy_expires_at) FROM merge_tokens") == 0)
        app.time.advance(by: .seconds(30 * 86_400 - 1))
        #expect(try collect(.mergeTokens) == 0)
        app.time.advance(by: .seconds(1))
        #expect(try collect(.mergeTokens) == 1)
    }

    @Test func itsCopyOpensUnderTheNextServerKey() throws {
        let first = issue(["idempotency_key": "a"])
        let next = [UInt8](repeating: 8, count: 32)
        let both = ServerKey(current: next, previous: TestApp.serverKeyBytes)
        let batch = try app.operate { try $0.reseal(.mergeTokens, after: nil, both, isDryRun: false) }
        #expect(batch?.count == 1)
        let process = try TestApp(database: app.database, serverKey: ServerKey(current: next), time: app.time)
        let again = process.client().send(
            .post, "/api/v1/me/merge/session-token", ["idempotency_key": "a"], token: member.token)
        #expect(again.text == first.text)
    }
}
