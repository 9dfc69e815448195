import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// A refresh with an Idempotency-Key: an app that was killed before it read the answer gets it again (accounts §3.8).
@Suite struct RefreshKeyTests {
    private static let key = "0123456789abcdef-~!.$&"
    private static let hour = Duration.seconds(3600)

    let scene: OAuthScene
    let app: TestApp
    let rp: TestClient
    let person: Phone

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        rp = try scene.register()
        person = try scene.person()
    }

    private func rotate(key: String? = key, scope: String? = nil) throws -> (token: String, answer: Answer) {
        let token = try scene.signIn(rp, as: person).refresh
        let answer = scene.refresh(token, by: rp, scope: scope, key: key)
        try #require(answer.status == 200, "\(answer)")
        return (token, answer)
    }

    private func expectTheft(_ answer: Answer, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try answer.oauthRefusal() == "400 invalid_grant", sourceLocation: sourceLocation)
        let reasons = try app.column(
            "SELECT JSON_VALUE(CONVERT(raw_payload USING utf8mb4), '$.data.reason') FROM webhook_outbox")
        #expect(reasons == ["refresh_reuse"], sourceLocation: sourceLocation)
        #expect(
            try app.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NULL") == 0,
            sourceLocation: sourceLocation)
        try expectNothingIsKept(sourceLocation: sourceLocation)
    }

    private func expectNothingIsKept(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let kept = try app.count(
            """
            SELECT COUNT(*) FROM refresh_families WHERE COALESCE(sealed_answer, answer_key_digest) IS NOT NULL
               OR COALESCE(answer_expires_at, answer_key_expires_at) IS NOT NULL
            """)
        #expect(kept == 0, sourceLocation: sourceLocation)
    }

    // MARK: Who has the key

    @Test(arguments: [nil, "openid"] as [String?]) func theAnswerIsRepeatedForADay(scope: String?) throws {
        let (token, answer) = try rotate(scope: scope)
        for pause in [Duration.zero, .seconds(31), Self.hour, .seconds(86_400 - 3600 - 31)] {
            app.time.advance(by: pause)
            try app.expectUnchanged {
                let again = scene.refresh(token, by: rp, scope: scope, key: Self.key)
                #expect(again.text == answer.text)
                #expect(again.header("Cache-Control") == "no-store")
            }
        }
        #expect(try Tokens(scene.refresh(try Tokens(answer).refresh, by: rp)).answer.status == 200)
    }

    /// The clean-up of the release before erases the answer after thirty seconds, but not its key.
    @Test func whoeverHasTheKeyOfALostAnswerIsNoThief() throws {
        let (token, answer) = try rotate()
        try app.change("UPDATE refresh_families SET sealed_answer = NULL, answer_expires_at = NULL")
        try app.expectUnchanged {
            #expect(scene.refresh(token, by: rp, key: Self.key)["error"] == "invalid_grant")
        }
        #expect(scene.refresh(try Tokens(answer).refresh, by: rp).status == 200)
    }

    @Test func afterADayItIsATheft() throws {
        let (token, _) = try rotate()
        app.time.advance(by: .seconds(86_400) + .milliseconds(1))
        try expectTheft(scene.refresh(token, by: rp, key: Self.key))
    }

    @Test func whatItHoldsIsGoodForAsLong() throws {
        let (token, answer) = try rotate()
        app.time.advance(by: .seconds(86_400))
        let again = try Tokens(scene.refresh(token, by: rp, key: Self.key))
        #expect(again.answer.text == answer.text)
        #expect(scene.userInfo(again.access).status == 401, "expires_in is as old as the body")
        let next = try Tokens(scene.refresh(again.refresh, by: rp, key: Self.key))
        #expect(scene.userInfo(next.access).status == 200)
    }

    @Test func aUsedSuccessorEndsTheRepetition() throws {
        let (token, answer) = try rotate()
        #expect(scene.refresh(try Tokens(answer).refresh, by: rp, key: Self.key).status == 200)
        try expectTheft(scene.refresh(token, by: rp, key: Self.key))
    }

    @Test func oneKeyDoesForAWholeLife() throws {
        var (_, answer) = try rotate()
        for _ in 0..<3 {
            let token = try Tokens(answer).refresh
            answer = scene.refresh(token, by: rp, key: Self.key)
            app.time.advance(by: Self.hour)
            #expect(scene.refresh(token, by: rp, key: Self.key).text == answer.text)
        }
    }

    /// A refresh token lives thirty days; the answer that retired it on its last day is repeated none the less.
    @Test(arguments: [false, true]) func theTokenMayExpireMeanwhile(isErased: Bool) throws {
        let first = try scene.signIn(rp, as: person).refresh
        app.time.advance(by: .seconds(30 * 86_400 - 1))
        let answer = scene.refresh(first, by: rp, key: Self.key)
        app.time.advance(by: Self.hour)
        if isErased { #expect(try app.operate { try $0.collect(.refreshTokens, loginHistory: .zero) } == 1) }
        try app.expectUnchanged {
            #expect(scene.refresh(first, by: rp, key: Self.key).text == answer.text)
            for key in [nil, Self.key + "x"] {
                let refusal = try scene.refresh(first, by: rp, key: key).oauthRefusal()
                #expect(refusal == "400 invalid_grant")
            }
        }
        #expect(scene.refresh(try Tokens(answer).refresh, by: rp).status == 200)
    }

    // MARK: Who has not

    @Test(arguments: [nil, key + "x", "0123456789ABCDEF-~!.$&"] as [String?])
    func withoutItsKeyTheThirtySecondsHold(key: String?) throws {
        let (token, answer) = try rotate()
        app.time.advance(by: .seconds(30))
        #expect(scene.refresh(token, by: rp, key: key).text == answer.text)
        app.time.advance(by: .milliseconds(1))
        try expectTheft(scene.refresh(token, by: rp, key: key))
    }

    @Test func aKeyThatCameLaterCountsForNothing() throws {
        let (token, answer) = try rotate(key: nil)
        #expect(scene.refresh(token, by: rp, key: Self.key).text == answer.text)
        app.time.advance(by: .seconds(31))
        try expectTheft(scene.refresh(token, by: rp, key: Self.key))
    }

    @Test func theKeyOfAnotherRotationCountsForNothing() throws {
        let (_, first) = try rotate()
        let token = try Tokens(first).refresh
        #expect(scene.refresh(token, by: rp, key: nil).status == 200)
        app.time.advance(by: .seconds(31))
        try expectTheft(scene.refresh(token, by: rp, key: Self.key))
    }

    @Test func anotherScopeParameterIsNoRepetition() throws {
        let (token, _) = try rotate(scope: "openid")
        app.time.advance(by: Self.hour)
        try expectTheft(scene.refresh(token, by: rp, key: Self.key))
    }

    @Test func anotherClientGetsNothingAndEndsNothing() throws {
        let (token, answer) = try rotate()
        let other = try scene.register(confidential: true)
        app.time.advance(by: Self.hour)
        try app.expectUnchanged {
            let refusal = try scene.refresh(token, by: other, key: Self.key).oauthRefusal()
            #expect(refusal == "400 invalid_grant")
        }
        #expect(scene.refresh(token, by: rp, key: Self.key).text == answer.text)
    }

    // MARK: The header

    @Test(arguments: [
        "", "x", "012345678901234567890", String(repeating: "x", count: 256), "0123456789 0123456789 0123456789",
        "0123456789012345678901\u{7F}", "0123456789012345678901é", String(repeating: "x\u{301}", count: 40),
    ])
    func aMalformedKeyIsRefused(key: String) throws {
        let token = try scene.signIn(rp, as: person).refresh
        try app.expectUnchanged {
            let refusal = try scene.refresh(token, by: rp, key: key).oauthRefusal()
            #expect(refusal == "400 invalid_request")
        }
        #expect(scene.refresh(token, by: rp).status == 200)
    }

    @Test(arguments: [22, 255]) func theseLengthsAreKeys(length: Int) throws {
        let (token, answer) = try rotate(key: String(repeating: "~", count: length))
        app.time.advance(by: Self.hour)
        #expect(scene.refresh(token, by: rp, key: String(repeating: "~", count: length)).text == answer.text)
    }

    @Test func otherGrantTypesTakeNone() throws {
        let code = try scene.code(rp, as: person)
        let form = scene.form("/oauth/token", scene.codeForm(code, of: rp), as: rp, key: "short")
        #expect(scene.client.send(form).status == 200)
        #expect(try scene.client.send(form).oauthRefusal() == "400 invalid_grant")
    }

    // MARK: The stored answer

    @Test func nothingOfItIsStoredInClear() throws {
        let (token, answer) = try rotate()
        let dump = try app.database.dump()
        let tokens = try Tokens(answer)
        for secret in [token, Self.key, tokens.refresh, tokens.access] { #expect(!dump.contains(secret)) }
    }

    @Test(arguments: ["the client", "the person", "a thief"])
    func whoeverEndsTheFamilyErasesIt(by whom: String) throws {
        let first = try scene.signIn(rp, as: person).refresh
        let (token, answer) = try rotate()
        #expect(scene.refresh(first, by: rp, key: Self.key).status == 200)
        switch whom {
        case "the client":
            for token in [first, token] { #expect(scene.revoke(token, by: rp).status == 200) }
        case "the person":
            let path = "/api/v1/me/connected_apps/\(rp.clientID)"
            #expect(scene.client.send(.delete, path, token: person.token).status == 204)
        default:
            app.time.advance(by: .seconds(31))
            for token in [first, token] { #expect(scene.refresh(token, by: rp).status == 400) }
        }
        try expectNothingIsKept()
        for token in [token, try Tokens(answer).refresh] {
            let refusal = try scene.refresh(token, by: rp, key: Self.key).oauthRefusal()
            #expect(refusal == "400 invalid_grant")
        }
    }

    @Test func aSwapThatDropsTheGrantErasesIt() throws {
        let shop = try scene.register(anonymous: true)
        let a = try scene.anonymous()
        let token = try scene.signIn(shop, as: a).refresh
        #expect(scene.refresh(token, by: shop, key: Self.key).status == 200)
        try scene.swap(a, into: "subject", rps: [])
        #expect(try app.count("SELECT COUNT(*) FROM refresh_families") == 0)
        #expect(try scene.refresh(token, by: shop, key: Self.key).oauthRefusal() == "400 invalid_grant")
    }

    @Test func aSwapThatMovesTheGrantKeepsIt() throws {
        let shop = try scene.register(anonymous: true)
        let a = try scene.anonymous()
        let token = try scene.signIn(shop, as: a).refresh
        let answer = scene.refresh(token, by: shop, key: Self.key)
        try scene.swap(a, into: "subject")
        app.time.advance(by: Self.hour)
        #expect(scene.refresh(token, by: shop, key: Self.key).text == answer.text)
    }

    /// Rows that something else than these endpoints ended.
    @Test(arguments: ["UPDATE grants SET revoked_at = NOW(3)", "UPDATE users SET deleted_at = NOW(3)"])
    func whatItStandsOnMayBeGone(sql: String) throws {
        let (token, _) = try rotate()
        app.time.advance(by: Self.hour)
        _ = try app.database.connect().query(sql)
        try app.expectUnchanged {
            let refusal = try scene.refresh(token, by: rp, key: Self.key).oauthRefusal()
            #expect(refusal == "400 invalid_grant")
        }
    }

    @Test func cleanUpLeavesItForItsDay() throws {
        let (token, answer) = try rotate()
        let (_, unkeyed) = try rotate(key: nil)
        #expect(unkeyed.status == 200)
        func collect() throws -> [Int] {
            try [Garbage.refreshAnswers, .keyedRefreshAnswers].map { kind in
                try app.operate { try $0.collect(kind, loginHistory: .zero) }
            }
        }
        app.time.advance(by: .seconds(31))
        #expect(try collect() == [2, 0])
        #expect(try collect() == [0, 0])
        #expect(try app.count("SELECT COUNT(sealed_answer) FROM refresh_families") == 1)
        #expect(scene.refresh(token, by: rp, key: Self.key).text == answer.text)
        app.time.advance(by: .seconds(86_400 - 30))
        #expect(try collect() == [0, 1])
        try expectNothingIsKept()
        #expect(try app.count("SELECT COUNT(answered_scope) FROM refresh_families") == 0)
        #expect(scene.refresh(try Tokens(answer).refresh, by: rp).status == 200)
    }

    // MARK: The lost answer

    /// The commit was carried out, or was not; the app asks again a while later, of another worker.
    @Test(arguments: [DatabaseProxy.Cut.beforeServer, .beforeAnswer])
    func aLostAnswerIsFoundAgain(cut: DatabaseProxy.Cut) throws {
        guard case .unixSocket(let socket) = app.database.options.address else { return }
        let proxy = try DatabaseProxy(to: socket)
        let cutOff = try TestApp(
            database: app.database, options: proxy.options(for: app.database.options), time: app.time)
        let token = try scene.signIn(rp, as: person).refresh
        proxy.cut(cut)
        let lost = scene.refresh(token, by: rp, key: Self.key, with: cutOff.client())
        #expect(lost.status == 503 && proxy.cutsMade == 1)
        app.time.advance(by: Self.hour)
        let found = try Tokens(scene.refresh(token, by: rp, key: Self.key))
        #expect(scene.refresh(token, by: rp, key: Self.key).text == found.answer.text)
        #expect(scene.refresh(found.refresh, by: rp, key: Self.key).status == 200)
        #expect(try app.count("SELECT COUNT(*) FROM webhook_outbox") == 0)
    }
}
