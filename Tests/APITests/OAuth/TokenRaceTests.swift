import HTTP
import JOSE
import JSON
import TestSupport
import Testing

/// Concurrent token requests, and the state of the database afterwards (accounts §2.5, §2.6, §2.11).
@Suite struct TokenRaceTests {
    let scene: OAuthScene
    let rp: TestClient
    let app: TestApp

    init() throws {
        scene = try OAuthScene()
        app = scene.app
        rp = try scene.register(anonymous: true)
    }

    private func statuses(_ answers: [Answer]) -> [Int: Int] {
        Dictionary(answers.map { ($0.status, 1) }, uniquingKeysWith: +)
    }

    /// True after every race: a live family has its current token stored, and an ended one has no stored answer.
    private func expectFamiliesInOrder(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(
            try app.count(
                """
                SELECT COUNT(*) FROM refresh_families f WHERE NOT EXISTS (
                    SELECT 1 FROM refresh_tokens t WHERE t.refresh_family_id = f.id AND t.digest = f.current_digest)
                   OR (f.revoked_at IS NOT NULL AND (f.sealed_answer IS NOT NULL OR f.answer_key_digest IS NOT NULL
                                                     OR f.current_expires_at > f.revoked_at))
                """) == 0, sourceLocation: sourceLocation)
    }

    @Test func aCodePresentedSixteenTimesIsWorthOneAnswer() throws {
        let person = try scene.person()
        let forms = try (0..<8).map { _ in
            scene.form("/oauth/token", scene.codeForm(try scene.code(rp, as: person), of: rp), as: rp)
        }
        for answers in app.race(16, rounds: forms.count, { client, _, round in client.send(forms[round]) }) {
            #expect(statuses(answers) == [200: 1, 400: 15])
            #expect(answers.allSatisfy { $0.status == 200 || $0.error == "invalid_grant" })
            let tokens = try Tokens(try #require(answers.first { $0.status == 200 }))
            #expect(scene.userInfo(tokens.access).status == 401, "the replays ended the family")
            #expect(scene.refresh(tokens.refresh, by: rp).error == "invalid_grant")
        }
        #expect(try app.count("SELECT COUNT(*) FROM refresh_families") == forms.count)
        #expect(try app.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NULL") == 0)
        #expect(
            try app.count("SELECT COUNT(*) FROM webhook_outbox WHERE event_type = 'token.revoked'") == forms.count)
        try expectFamiliesInOrder()
    }

    @Test func aRefreshTokenPresentedSixteenTimesRotatesOnce() throws {
        let person = try scene.person()
        let first = try (0..<8).map { _ in try scene.signIn(rp, as: person) }
        let forms = first.map { scene.form("/oauth/token", scene.refreshForm($0.refresh), as: rp) }
        let rounds = app.race(16, rounds: forms.count) { client, _, round in client.send(forms[round]) }
        for (answers, first) in zip(rounds, first) {
            #expect(statuses(answers) == [200: 16])
            #expect(Set(answers.map(\.text)).count == 1)
            let second = try Tokens(answers[0])
            #expect(second.refresh != first.refresh)
            #expect(scene.userInfo(second.access).status == 200)
            #expect(scene.refresh(second.refresh, by: rp).status == 200)
        }
        // The first, the one of the race, the one after it.
        #expect(try app.count("SELECT COUNT(*) FROM refresh_tokens") == 3 * forms.count)
        #expect(try app.count("SELECT COUNT(*) FROM webhook_outbox") == 0)
        try expectFamiliesInOrder()
    }

    @Test func aKeyedRefreshSixteenTimesRotatesOnce() throws {
        let person = try scene.person()
        let first = try (0..<8).map { _ in try scene.signIn(rp, as: person) }
        let key = "a key that was written down".replacing(" ", with: "-")
        let forms = first.map { scene.form("/oauth/token", scene.refreshForm($0.refresh), as: rp, key: key) }
        let rounds = app.race(16, rounds: forms.count) { client, _, round in client.send(forms[round]) }
        for (answers, form) in zip(rounds, forms) {
            #expect(statuses(answers) == [200: 16])
            #expect(Set(answers.map(\.text)).count == 1)
            app.time.advance(by: .seconds(3600))
            #expect(scene.client.send(form).text == answers[0].text)
        }
        #expect(try app.count("SELECT COUNT(*) FROM refresh_tokens") == 2 * forms.count)
        #expect(try app.count("SELECT COUNT(*) FROM webhook_outbox") == 0)
        try expectFamiliesInOrder()
    }

    /// The killed app repeats its request with the key, while the app that got the answer already goes on with it.
    @Test func aKeyedRepetitionAndTheUseOfTheSuccessorMeet() throws {
        let person = try scene.person()
        let key = String(repeating: "k", count: 22)
        let first = try (0..<16).map { _ in try scene.signIn(rp, as: person) }
        let forms = first.map { scene.form("/oauth/token", scene.refreshForm($0.refresh), as: rp, key: key) }
        let second = forms.map { scene.client.send($0) }
        let next = try second.map {
            scene.form("/oauth/token", scene.refreshForm(try Tokens($0).refresh), as: rp, key: key)
        }
        app.time.advance(by: .seconds(3600))
        let rounds = app.race(4, rounds: forms.count) { client, thread, round in
            client.send(thread == round % 4 ? next[round] : forms[round])
        }
        for (round, answers) in rounds.enumerated() {
            let used = answers[round % 4]
            let repeated = answers.enumerated().filter { $0.offset != round % 4 }.map(\.element)
            for answer in repeated where answer.text != second[round].text {
                #expect("\(answer.status) \(answer.error ?? "")" == "400 invalid_grant")
            }
            let isOver = repeated.contains { $0.status != 200 }
            // A repetition that came after the use is a theft, as without a key; one that came before it costs nothing.
            if used.status == 200 {
                let status = scene.userInfo(try Tokens(used).access).status
                #expect(status == (isOver ? 401 : 200))
            } else {
                #expect(isOver && used.error == "invalid_grant")
            }
        }
        try expectFamiliesInOrder()
    }

    @Test func whateverARevocationMeetsIsOver() throws {
        let person = try scene.person()
        let first = try (0..<16).map { _ in try scene.signIn(rp, as: person) }
        let refreshes = first.map { scene.form("/oauth/token", scene.refreshForm($0.refresh), as: rp) }
        let revocations = first.map { scene.form("/oauth/revoke", [("token", $0.refresh)], as: rp) }
        let rounds = app.race(5, rounds: first.count) { client, thread, round in
            client.send(thread == round % 5 ? revocations[round] : refreshes[round])
        }
        for (round, answers) in rounds.enumerated() {
            #expect(answers[round % 5].status == 200)
            for answer in answers where answer.text != "{}" {
                guard answer.status == 200 else {
                    #expect("\(answer.status) \(answer.error ?? "")" == "400 invalid_grant")
                    continue
                }
                let tokens = try Tokens(answer)
                #expect(scene.userInfo(tokens.access).status == 401)
                #expect(scene.refresh(tokens.refresh, by: rp).error == "invalid_grant")
            }
        }
        #expect(try app.count("SELECT COUNT(*) FROM refresh_families WHERE revoked_at IS NULL") == 0)
        #expect(try app.count("SELECT COUNT(*) FROM webhook_outbox") == 0)
        try expectFamiliesInOrder()
    }

    @Test(arguments: [true, false]) func aSwapAndARefreshMeet(isSelected: Bool) throws {
        let rounds = 10
        var people: [(a: Phone, b: Phone, tokens: Tokens)] = []
        for round in 0..<rounds {
            let (a, b) = (try scene.anonymous(), try scene.person("bea \(round)"))
            people.append((a, b, try scene.signIn(rp, as: a)))
        }
        let swaps = people.enumerated().map {
            scene.swapRequest($1.a, into: "bea \($0)", rps: isSelected ? nil : [])
        }
        let refreshes = people.map { scene.form("/oauth/token", scene.refreshForm($0.tokens.refresh), as: rp) }
        let results = app.race(5, rounds: rounds) { client, thread, round in
            thread == round % 5 ? client.send(swaps[round]) : client.send(refreshes[round])
        }
        for (round, answers) in results.enumerated() {
            let (a, b, tokens) = people[round]
            #expect(answers[round % 5].status == 200, "\(answers[round % 5])")
            let refreshed = answers.enumerated().filter { $0.offset != round % 5 }.map(\.element)
            if isSelected {
                #expect(statuses(refreshed) == [200: 4])
                #expect(Set(refreshed.map(\.text)).count == 1)
                let next = try Tokens(scene.refresh(try Tokens(refreshed[0]).refresh, by: rp))
                #expect(try next.idClaims["sub"] == .string("\(a.userID)"))
                #expect(try next.idClaims["canonical_sub"] == .string("\(b.userID)"))
            } else {
                #expect(refreshed.allSatisfy { $0.status == 200 || $0.error == "invalid_grant" })
                for answer in refreshed where answer.status == 200 {
                    #expect(scene.userInfo(try Tokens(answer).access).status == 401)
                }
                #expect(scene.refresh(tokens.refresh, by: rp).error == "invalid_grant")
            }
            #expect(try app.count("SELECT COUNT(*) FROM users WHERE id = ?", a.userID) == 0)
            #expect(
                try app.count("SELECT COUNT(*) FROM grants WHERE sub = ? AND user_id = ?", "\(a.userID)", b.userID)
                    == (isSelected ? 1 : 0))
        }
        #expect(try app.count("SELECT COUNT(*) FROM refresh_families") == (isSelected ? rounds : 0))
        try expectFamiliesInOrder()
    }

    @Test func everyPollCounts() throws {
        let device = try scene.device(rp)
        let form = scene.form("/oauth/token", scene.pollForm(device.code), as: rp)
        let answers = app.atOnce(16) { client, _ in client.send(form) }
        #expect(answers.count { $0.error == "authorization_pending" } == 1)
        #expect(answers.count { $0.error == "slow_down" } == 15)
        #expect(try app.count("SELECT interval_seconds FROM device_codes") == 5 + 15 * 5)
    }

    @Test func aDecisionAndPollsMeet() throws {
        let person = try scene.person()
        let devices = try (0..<12).map { _ in try scene.device(rp) }
        // Tries of one PAK are limited, so each device is decided on by a phone of its own.
        let phones = try (0..<12).map { _ in try scene.client.signIn(app.proof("subject"), on: scene.next()) }
        let polls = devices.map { scene.form("/oauth/token", scene.pollForm($0.code), as: rp) }
        let decisions = zip(devices, phones).map { device, phone in
            scene.decisionRequest("approve", .string(device.userCode), as: phone)
        }
        let rounds = app.race(6, rounds: devices.count) { client, thread, round in
            thread == 0 ? client.send(decisions[round]) : client.send(polls[round])
        }
        for (round, answers) in rounds.enumerated() {
            #expect("\(answers[0])" == #"200 {"status":"approved"}"#)
            let polled = answers.dropFirst()
            let won = polled.filter { $0.status == 200 }
            #expect(won.count <= 1)
            let (early, pending) = (
                polled.count { $0.error == "slow_down" }, polled.count { $0.error == "authorization_pending" }
            )
            let late = polled.count { $0.error == "invalid_grant" }
            #expect(won.count + early + pending + late == 5, "\(answers)")
            #expect(pending == (early + pending > 0 ? 1 : 0))
            #expect(late == 0 || won.count == 1)
            if won.isEmpty { #expect(scene.poll(devices[round], by: rp).status == 200) }
            #expect(scene.poll(devices[round], by: rp).error == "invalid_grant")
            let interval = try app.column(
                "SELECT CAST(interval_seconds AS CHAR) FROM device_codes ORDER BY id LIMIT 1 OFFSET ?", round)
            #expect(interval == ["\(5 + 5 * early)"])
        }
        #expect(try app.count("SELECT COUNT(*) FROM refresh_families") == devices.count)
        #expect(try app.column("SELECT CAST(user_id AS CHAR) FROM grants") == ["\(person.userID)"])
        try expectFamiliesInOrder()
    }

    @Test func oneDecisionCounts() throws {
        let phones = try (0..<4).map { try scene.person("person \($0)") }
        let devices = try (0..<8).map { _ in try scene.device(rp) }
        let requests = devices.map { device in
            phones.enumerated().map { number, phone in
                scene.decisionRequest(number % 2 == 0 ? "approve" : "deny", .string(device.userCode), as: phone)
            }
        }
        let rounds = app.race(4, rounds: devices.count) { client, thread, round in
            client.send(requests[round][thread])
        }
        for (device, answers) in zip(devices, rounds) {
            #expect(statuses(answers) == [200: 1, 404: 3])
            let isApproved = answers.first { $0.status == 200 }?["status"] == "approved"
            let polled = scene.poll(device, by: rp)
            #expect(isApproved ? polled.status == 200 : polled.error == "access_denied")
        }
        // Who was too late left no consent behind.
        #expect(
            try app.count(
                "SELECT COUNT(*) FROM grants g WHERE NOT EXISTS (SELECT 1 FROM device_codes c WHERE c.grant_id = g.id)")
                == 0)
    }

    @Test func tenOfSixteenExchangesPass() throws {
        let token = try scene.signIn(rp, as: try scene.person()).access
        let answers = app.atOnce(16) { client, thread in
            client.send(
                .post, "/api/v1/me/device_keys/exchange",
                ["device_uuid": .string(uuid(1 + thread)), "platform": "ios"], token: token)
        }
        #expect(statuses(answers) == [200: 10, 429: 6])
        #expect(try app.count("SELECT COUNT(*) FROM devices WHERE application_id IS NOT NULL") == 10)
    }

    @Test func aDeviceIsMadeOnce() throws {
        let token = try scene.signIn(rp, as: try scene.person()).access
        let body: JSONValue = ["device_uuid": .string(uuid(1)), "platform": "ios"]
        let answers = app.atOnce(8) { client, _ in
            client.send(.post, "/api/v1/me/device_keys/exchange", body, token: token)
        }
        #expect(statuses(answers) == [200: 1, 401: 7])
        let replayed = app.atOnce(8) { client, _ in
            client.send(
                .post, "/api/v1/me/device_keys/exchange", body.adding(["device_uuid": .string(uuid(2))]), token: token,
                headers: [("idempotency-key", "key")])
        }
        #expect(statuses(replayed) == [200: 8])
        #expect(Set(replayed.map(\.text)).count == 1)
    }
}
