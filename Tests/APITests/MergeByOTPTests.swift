import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// A merge that is proved by a mailed code (accounts §3.1).
@Suite struct MergeByOTPTests {
    private static let invalid = refusal(401, "invalid_otp")

    let scene: OAuthScene
    let app: TestApp
    let requester: Phone
    let target: Phone

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        requester = try scene.person("requester", email: "ada@example.com")
        target = try scene.person("target", email: "bea@example.com")
    }

    private var byID: JSONValue { ["target_user_id": .integer(Int64(target.userID))] }
    private var byEmail: JSONValue { ["target_email": "BEA@example.com"] }

    private func ask(_ name: JSONValue? = nil, as phone: Phone? = nil) throws {
        let answer = scene.client.send(
            .post, "/api/v1/me/merge/otp", name ?? byID, token: (phone ?? requester).token)
        try #require(answer.status == 202, "\(answer)")
    }

    /// The code of the newest mail.
    private func code() throws -> String { try #require(try app.mails().last?.code) }

    /// Another than that.
    private func wrong(_ code: String, _ number: Int = 1) -> String {
        let other = String(((Int(code) ?? 0) + number) % 100_000_000)
        return String(repeating: "0", count: 8 - other.count) + other
    }

    private func request(
        _ code: String, _ name: JSONValue? = nil, as phone: Phone? = nil, dryRun: Bool = false,
        headers: [(name: String, value: String)] = []
    ) -> RepeatableRequest {
        RepeatableRequest(
            method: .post, path: "/api/v1/me/merge",
            body: (name ?? byID).adding(["otp_code": .string(code), "dry_run": dryRun ? true : nil]),
            token: (phone ?? requester).token, headers: headers)
    }

    private func merge(
        _ code: String, _ name: JSONValue? = nil, as phone: Phone? = nil, dryRun: Bool = false,
        headers: [(name: String, value: String)] = []
    ) -> Answer {
        scene.client.send(request(code, name, as: phone, dryRun: dryRun, headers: headers))
    }

    private func tries() throws -> [String] { try app.column("SELECT CAST(tries AS CHAR) FROM merge_otps ORDER BY id") }

    // MARK: Right codes

    @Test(arguments: [false, true], [false, true]) func aRightCodeMerges(asksByEmail: Bool, mergesByEmail: Bool) throws
    {
        try ask(asksByEmail ? byEmail : byID)
        let answer = merge(try code(), mergesByEmail ? byEmail : byID)
        #expect(answer.status == 200 && answer["merged_via"] == "t3_otp", "\(answer)")
        #expect(answer["primary_user_id"] == .integer(Int64(requester.userID)))
        #expect(answer["linked_user_id"] == .integer(Int64(target.userID)))
        #expect(
            try app.column("SELECT idempotency_key FROM identity_links")
                == app.column("SELECT CONCAT('t3:', id) FROM merge_otps"))
        #expect("\(merge(try code()))" == Self.invalid, "it is used up")
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 1)
    }

    @Test func aDryRunUsesNothingUp() throws {
        try ask()
        let code = try code()
        try app.expectUnchanged {
            for _ in 0..<7 { #expect(merge(code, dryRun: true)["dry_run"] == true) }
        }
        let plan = try #require(merge(code, dryRun: true)["plan"]?.string)
        #expect("\(merge(code, headers: [("if-match", "other")]))" == refusal(412, "plan_changed"))
        #expect(try tries() == ["0"], "whoever had the right code did not guess")
        #expect(merge(code, headers: [("if-match", plan)]).status == 200)
    }

    @Test func aLostAnswerIsRepeated() throws {
        try ask()
        let headers = [(name: "idempotency-key", value: "key")]
        let code = try code()
        let first = merge(code, headers: headers)
        #expect(first.status == 200)
        let again = merge(code, headers: headers)
        #expect(again.text == first.text && again.header("Idempotency-Replayed") == "true")
    }

    @Test func aNewCodeVoidsThatOfThePairAlone() throws {
        let third = try scene.person("third", email: "cora@example.com")
        try ask()
        let old = try code()
        try ask(as: third)
        let ofThird = try code()
        try ask(["target_email": "cora@example.com"])
        let forThird = try code()
        try ask(byEmail)
        let new = try code()
        #expect("\(merge(old))" == Self.invalid)
        #expect(merge(ofThird, as: third, dryRun: true).status == 200)
        #expect(merge(forThird, ["target_email": "cora@example.com"], dryRun: true).status == 200)
        #expect(merge(new).status == 200)
    }

    @Test func itLivesFiveMinutes() throws {
        try ask()
        let code = try code()
        app.time.advance(by: .milliseconds(299_999))
        #expect(merge(code, dryRun: true).status == 200)
        app.time.advance(by: .milliseconds(1))
        #expect("\(merge(code))" == Self.invalid)
    }

    @Test func itOpensUnderTheNextServerKey() throws {
        try ask()
        let code = try code()
        let next = try TestApp(
            database: app.database,
            serverKey: ServerKey(current: [UInt8](repeating: 8, count: 32), previous: TestApp.serverKeyBytes),
            time: app.time)
        #expect(next.client().send(request(code, dryRun: true)).status == 200)
        let other = try TestApp(
            database: app.database, serverKey: ServerKey(current: [UInt8](repeating: 8, count: 32)), time: app.time)
        #expect("\(other.client().send(request(code, dryRun: true)))" == Self.invalid)
    }

    // MARK: Wrong codes

    @Test(arguments: [false, true]) func fiveWrongOnesVoidIt(dryRun: Bool) throws {
        try ask()
        let code = try code()
        let guesses = [wrong(code), "", "1", code + "0", String(code.dropLast())]
        for guess in guesses.dropLast() { #expect("\(merge(guess, dryRun: dryRun))" == Self.invalid) }
        #expect(try tries() == ["4"])
        #expect(merge(code, dryRun: true).status == 200, "four do not")
        #expect("\(merge(guesses[4], dryRun: dryRun))" == Self.invalid)
        #expect(try tries() == ["5"])
        for dryRun in [true, false] { #expect("\(merge(code, dryRun: dryRun))" == Self.invalid) }
        #expect(try tries() == ["5"])
        #expect(try app.column("SELECT CAST(refusals AS CHAR) FROM merge_otps") == ["2"])
        try ask()
        #expect(merge(try self.code()).status == 200)
    }

    /// The refusal is not kept under the key, and the try is: another request with it is another try.
    @Test(arguments: [false, true]) func anIdempotencyKeyHidesNoTry(dryRun: Bool) throws {
        try ask()
        let code = try code()
        let headers = [(name: "idempotency-key", value: "key")]
        for _ in 0..<2 { #expect("\(merge(wrong(code), dryRun: dryRun, headers: headers))" == Self.invalid) }
        #expect(try tries() == ["2"])
        #expect(try app.count("SELECT COUNT(*) FROM idempotency_records") == 0)
        #expect(merge(code, headers: headers).status == 200)
    }

    @Test func itIsBoundToRequesterAndTarget() throws {
        let third = try scene.person("third", email: "cora@example.com")
        try ask()
        let code = try code()
        #expect("\(merge(code, as: third))" == Self.invalid)
        #expect("\(merge(code, ["target_email": "cora@example.com"]))" == Self.invalid)
        #expect("\(merge(code, ["target_user_id": .integer(Int64(requester.userID))]))" == Self.invalid)
        #expect("\(merge(code, ["target_email": "unknown@example.com"]))" == Self.invalid)
        #expect(try tries() == ["0"], "none was a try for it")
        #expect(merge(code).status == 200)
    }

    /// A code for nobody is tried like any other, so that nobody learns that it is one.
    @Test func triesForNobodyAreCountedAlike() throws {
        let nobody: JSONValue = ["target_email": "unknown@example.com"]
        try ask(nobody)
        for _ in 0..<7 { #expect("\(merge("12345678", nobody))" == Self.invalid) }
        #expect(try tries() == ["5"])
        #expect(try app.mails().isEmpty)
    }

    @Test(arguments: [
        "UPDATE users SET deleted_at = NOW(3) WHERE login_email = 'bea@example.com'",
        "UPDATE users SET login_email = NULL, login_email_authoritative = FALSE WHERE login_email = 'bea@example.com'",
    ])
    func theTargetMayBeGone(sql: String) throws {
        try ask()
        let code = try code()
        _ = try app.database.connect().query(sql)
        for name in [byID, byEmail] { #expect("\(merge(code, name))" == Self.invalid) }
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 0)
    }

    @Test func aTargetIsNamedOnce() throws {
        let both = byID.adding(["target_email": "bea@example.com"])
        try app.expectUnchanged {
            #expect("\(merge("12345678", both))" == refusal(400, "invalid_request"))
            #expect("\(merge("12345678", ["target_email": ""]))" == refusal(400, "invalid_request"))
        }
    }

    // MARK: Races

    /// Whatever guesses at once, five are compared: the sixteen threads' right code is no longer good, or was among them.
    @Test func guessesAtOnceAreFive() throws {
        let requesters = try (0..<6).map { try scene.person("r\($0)", email: "r\($0)@example.com") }
        for (number, guesser) in requesters.enumerated() {
            app.time.advance(by: .seconds(3600))
            try ask(as: guesser)
            let code = try code()
            let isDryRun = number % 2 == 0
            // Of sixteen guesses the last is right.
            let requests = (0..<16).map { thread in
                request(thread == 15 ? code : wrong(code, thread + 1), as: guesser, dryRun: isDryRun)
            }
            let answers = app.atOnce(16) { client, thread in client.send(requests[thread]) }
            let right = answers[15]
            #expect(answers.dropLast().allSatisfy { "\($0)" == Self.invalid })
            let counted = try #require(Int(try tries()[number]))
            #expect(right.status == 200 ? counted <= 5 : "\(right)" == Self.invalid && counted == 5)
            if right.status == 200, !isDryRun { break }
            #expect("\(merge(code, as: guesser))" == (counted == 5 ? Self.invalid : "\(right)"))
            if counted < 5 { break }
        }
        #expect(try app.column("SELECT CAST(MAX(tries) AS CHAR) FROM merge_otps").allSatisfy { (Int($0) ?? 9) <= 5 })
    }

    @Test func aRightCodeAtOnceMergesOnce() throws {
        try ask()
        let right = request(try code())
        let answers = app.atOnce(8) { client, _ in client.send(right) }
        #expect(answers.count { $0.status == 200 } == 1)
        #expect(answers.filter { $0.status != 200 }.allSatisfy { "\($0)" == Self.invalid }, "\(answers)")
        #expect(try app.count("SELECT COUNT(*) FROM identity_links") == 1)
    }
}
