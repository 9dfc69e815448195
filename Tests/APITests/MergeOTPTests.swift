import API
import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

@testable import Accounts

/// POST /api/v1/me/merge/otp: a code by mail, and nobody learns whether there was anybody to send it to (accounts §3.1).
@Suite struct MergeOTPTests {
    private static let answer = #"202 {"ok":true,"expires_in":300}"#

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

    private func ask(_ members: JSONValue, as phone: Phone? = nil, language: String? = nil) -> Answer {
        scene.client.send(
            .post, "/api/v1/me/merge/otp", members, token: (phone ?? requester).token,
            headers: language.map { [("accept-language", $0)] } ?? [])
    }

    private func ask(user: Int) -> Answer { ask(["target_user_id": .integer(Int64(user))]) }

    // MARK: When

    /// Not before the answer is written, so that its time is the same for everybody; and only then is it certain.
    @Test func theCodeGoesAfterTheAnswer() throws {
        let responder = Responder(service: app.service, database: Database(app.database.options))
        let body: JSONValue = ["target_email": "bea@example.com"]
        let request = Request(
            method: .post, path: "/api/v1/me/merge/otp", query: "",
            headers: Headers([
                (name: "content-type", value: "application/json"),
                (name: "authorization", value: "Bearer \(requester.token)"),
            ]), remoteAddress: "192.0.2.7", requestID: nil, body: BufferedBody(body.json()))
        let response = responder.respond(to: request)
        #expect(response.status == .accepted)
        #expect(try app.mails().isEmpty)
        response.afterwards?()
        #expect(try app.mails().count == 1)
    }

    // MARK: Who gets a code

    @Test(arguments: [nil, "bea@example.com", "BEA@Example.COM"] as [String?])
    func theCodeGoesToTheTarget(email: String?) throws {
        let answer = email.map { ask(["target_email": .string($0)]) } ?? ask(user: target.userID)
        #expect("\(answer)" == Self.answer)
        let mail = try #require(try app.mails().first)
        #expect(mail["to"] == "bea@example.com")
        let code = try #require(mail.code)
        #expect(try app.mails().count == 1)
        #expect(try !app.database.dump().contains(code))
        for line in app.log.lines { #expect(!line.contains(code) && !line.contains("bea@")) }
        #expect(
            try app.column("SELECT CONCAT(requester_id, ' ', tries, ' ', used_at IS NULL) FROM merge_otps")
                == ["\(requester.userID) 0 1"])
    }

    @Test(arguments: [(nil, "merge two accounts"), ("ko-KR, en;q=0.5", "계정 합치기"), ("fr", "merge two accounts")])
    func itIsWrittenInTheRequestersLanguage(language: String?, subject: String) throws {
        _ = ask(["target_email": "bea@example.com"], language: language)
        let mail = try #require(try app.mails().first)
        #expect(mail["subject"]?.string?.contains(subject) == true)
        #expect(mail["text"]?.string?.contains(TestApp.issuer) == true)
        #expect(mail.code != nil)
    }

    @Test func theAddressOfAnAbsorbedAccountLeadsToItsSurvivor() throws {
        let survivor = try scene.person("survivor", email: "cora@example.com")
        try app.absorb(target.userID, into: survivor.userID)
        #expect("\(ask(["target_email": "bea@example.com"]))" == Self.answer)
        #expect(try app.mails().map { $0["to"] } == ["cora@example.com"])
        #expect("\(ask(user: target.userID))" == Self.answer)
        #expect(try app.mails().count == 1, "it is not live itself")
    }

    /// The answers are alike to the byte, and so is what was counted and stored.
    @Test func nobodyElseGetsOneAndNobodyCanTell() throws {
        let nobody = try scene.anonymous()
        let synthetic = try scene.person("synthetic", email: nil)
        try app.change("UPDATE users SET login_email = 'x@y.internal' WHERE id = ?", synthetic.userID)
        let deleted = try scene.person("deleted", email: "dora@example.com")
        try app.change("UPDATE users SET deleted_at = NOW(3) WHERE id = ?", deleted.userID)
        let names: [JSONValue] =
            [nobody, synthetic, deleted, requester].map { ["target_user_id": .integer(Int64($0.userID))] }
            + ["ada@example.com", "dora@example.com", "x@y.internal", "unknown@example.com", "no address"].map {
                ["target_email": .string($0)]
            } + [["target_user_id": -1]]
        var headers: [[String]] = []
        for (number, name) in names.enumerated() {
            let counted = try app.count("SELECT COALESCE(SUM(count), 0) FROM rate_limits")
            let answer = ask(name)
            #expect("\(answer)" == Self.answer)
            headers.append(answer.response.headers.map(\.name))
            #expect(try app.count("SELECT COUNT(*) FROM merge_otps") == number + 1)
            // Of the requester; of the name and of whom it leads to, for an hour and for a day each.
            #expect(try app.count("SELECT SUM(count) FROM rate_limits") == counted + 5)
        }
        #expect(Set(headers).count == 1)
        #expect(try app.mails().isEmpty)
    }

    // MARK: Requests

    @Test(arguments: [
        "{}", #"{"target_user_id":null}"#, #"{"target_email":""}"#, #"{"target_user_id":"7"}"#,
        #"{"target_user_id":1.5}"#,
        #"{"target_email":7}"#, #"{"target_user_id":7,"target_email":"bea@example.com"}"#, "[]", "x",
    ])
    func aTargetIsNamedOnce(body: String) throws {
        try app.expectUnchanged {
            let answer = scene.client.send(
                .post, "/api/v1/me/merge/otp", bytes: Array(body.utf8), token: requester.token)
            #expect("\(answer)" == refusal(400, "invalid_request"))
        }
    }

    /// Whoever could make accounts without end would have no limit.
    @Test func anAnonymousAccountGetsNoCodesSent() throws {
        let phone = try scene.anonymous()
        try app.expectUnchanged {
            #expect("\(ask(["target_email": "bea@example.com"], as: phone))" == refusal(422, "anonymous_requester"))
        }
        #expect(try app.mails().isEmpty)
    }

    @Test func withoutASenderItIsAnsweredAsAlways() throws {
        let silent = try TestApp(database: app.database, sendsMail: false, time: app.time)
        let answer = silent.client().send(
            .post, "/api/v1/me/merge/otp", ["target_email": "bea@example.com"], token: requester.token)
        #expect("\(answer)" == Self.answer)
    }

    @Test func aFullQueueIsAnsweredAsAlways() throws {
        let people = try (0..<70).map { try scene.person("person \($0)", email: "p\($0)@example.com") }
        // Three for each: more than the queue holds, whose thread has not started.
        for (number, person) in people.enumerated() {
            for offset in 1...3 {
                let target = people[(number + offset) % people.count].userID
                #expect("\(ask(["target_user_id": .integer(Int64(target))], as: person))" == Self.answer)
            }
        }
        #expect(app.log.lines.count { $0.contains("mail was not sent") } == 10)
        #expect(try app.mails().count == 200)
    }

    // MARK: Limits

    private func expectLimited(_ answer: Answer, within seconds: Int, sourceLocation: SourceLocation = #_sourceLocation)
    {
        #expect("\(answer)" == refusal(429, "rate_limited"), sourceLocation: sourceLocation)
        let wait = answer.header("Retry-After").flatMap { Int($0) } ?? 0
        #expect((1...seconds).contains(wait), sourceLocation: sourceLocation)
    }

    @Test(arguments: [true, false]) func threeAnHourAndTenADayForATarget(exists: Bool) throws {
        let name: JSONValue = ["target_email": exists ? "bea@example.com" : "unknown@example.com"]
        let people = try (0..<4).map { try scene.person("person \($0)", email: "p\($0)@example.com") }
        for hour in 0..<3 {
            for number in 0..<3 { #expect("\(ask(name, as: people[number]))" == Self.answer) }
            // Before the codes expire.
            #expect(try app.mails().count == (exists ? 3 * (hour + 1) : 0))
            if hour < 2 { app.time.advance(by: .seconds(3600)) }
        }
        expectLimited(ask(name, as: people[3]), within: 3600)
        app.time.advance(by: .seconds(3600))
        #expect("\(ask(name, as: people[3]))" == Self.answer, "the refused request did not count: this is the tenth")
        #expect(try app.mails().count == (exists ? 10 : 0))
        expectLimited(ask(name, as: people[3]), within: 86_400 - 3 * 3600)
        app.time.advance(by: .seconds(86_400 - 3 * 3600))
        #expect("\(ask(name, as: people[3]))" == Self.answer)
        #expect(try app.mails().count == (exists ? 11 : 0))
    }

    @Test func tenAnHourForARequester() throws {
        for number in 0..<10 { #expect("\(ask(user: 1_000_000 + number))" == Self.answer) }
        expectLimited(ask(user: target.userID), within: 3600)
        #expect(
            "\(ask(["target_email": "bea@example.com"], as: try scene.person("another", email: nil)))" == Self.answer)
        app.time.advance(by: .seconds(3600))
        #expect("\(ask(user: target.userID))" == Self.answer)
    }

    /// Otherwise a 429 would tell whose address it is.
    @Test func anotherNameForATargetIsLimitedWithoutAWord() throws {
        for _ in 0..<3 { #expect("\(ask(user: target.userID))" == Self.answer) }
        expectLimited(ask(user: target.userID), within: 3600)
        for _ in 0..<3 { #expect("\(ask(["target_email": "bea@example.com"]))" == Self.answer) }
        #expect(try app.mails().count == 3)
        expectLimited(ask(["target_email": "bea@example.com"]), within: 3600)
    }

    @Test func requestsAtOnceAreCountedEach() throws {
        let people = try (0..<8).map { try scene.person("person \($0)", email: "p\($0)@example.com") }
        let answers = app.atOnce(8) { client, thread in
            client.send(
                .post, "/api/v1/me/merge/otp", ["target_email": "bea@example.com"], token: people[thread].token)
        }
        #expect(answers.count { $0.status == 202 } == 3 && answers.count { $0.status == 429 } == 5)
        #expect(try app.mails().count == 3)
    }

    // MARK: What stays

    @Test func cleanUpErasesWhatExpired() throws {
        _ = ask(user: target.userID)
        func collect() throws -> Int { try app.operate { try $0.collect(.mergeOTPs, loginHistory: .zero) } }
        app.time.advance(by: .milliseconds(299_999))
        #expect(try collect() == 0)
        app.time.advance(by: .milliseconds(1))
        #expect(try collect() == 1)
    }
}

extension JSONValue {
    /// The one-time password in a spooled mail.
    var code: String? { (self["text"]?.string?.firstMatch(of: /\b[0-9]{8}\b/)).map { String($0.output) } }
}
