import AnalyticsJobs
import Database
import JSON
import MariaDB
import TestSupport
import Testing

/// Concurrent saves with each other and with claims, on connections of two responders (analytics §12, §16 guarantee 3).
@Suite struct QuestionnaireRaceTests {
    let app: TestApp
    let scene: AnalyticsScene
    let rounds = 5

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        try scene.makeQuestionnaire()
    }

    @Test func draftsOfOneUserAreOneRowWithEveryAnswer() throws {
        let scene = scene
        let questions: [(String, JSONValue)] = [("words", "w"), ("one", "a"), ("stars", 3), ("nps", 4)]
        let results = app.race(16, rounds: rounds) { client, thread, round in
            let (question, answer) = questions[thread % 4]
            return client.send(
                scene.respond(.object(JSONObject([(question, answer)])), ["user_id": .string("u\(round)")]))
        }
        for answers in results {
            #expect(answers.map(\.status).sorted() == Array(repeating: 200, count: 15) + [201])
            #expect(Set(answers.compactMap { $0["id"]?.string }).count == 1)
            #expect(answers.allSatisfy { $0["was_submitted"] == false })
        }
        let saved = try app.sql { db in
            try db.all("SELECT answers FROM questionnaire_responses") { row in
                try JSONValue(json: Array(try row.read(String.self).utf8))
            }
        }
        #expect(saved == Array(repeating: ["words": "w", "one": "a", "stars": 3, "nps": 4], count: rounds))
    }

    @Test func ofManyCompletionsOneSubmits() throws {
        let scene = scene
        let results = app.race(16, rounds: rounds) { client, thread, round in
            client.send(
                scene.respond(
                    ["words": .string("w\(thread)")],
                    ["user_id": .string("u\(round)"), "is_complete": .bool(thread % 4 != 0)]))
        }
        for answers in results {
            #expect(answers.filter { $0["was_submitted"] == true }.count == 1)
            #expect(answers.filter { $0.status == 201 }.count == 1)
            #expect(answers.allSatisfy { [200, 201, 409].contains($0.status) }, "\(answers.map(\.description))")
            #expect(
                answers.filter { $0.status == 409 }.allSatisfy { $0["reason"] == "already_responded" })
        }
        #expect(try app.count("SELECT COUNT(*) FROM questionnaire_responses WHERE status = 'new'") == rounds)
        #expect(try app.count("SELECT COUNT(*) FROM questionnaire_responses") == rounds)
    }

    /// Half of the saves name the anonymous id, the other half the user who claims it.
    @Test func afterClaimsEveryLiveRowIsUnderTheOwner() throws {
        let scene = scene
        let results = app.race(16, rounds: rounds) { client, thread, round in
            let (anonymous, user) = (JSONValue.string("owl_anon_\(round)"), JSONValue.string("u\(round)"))
            if thread % 8 == 0 { return client.send(scene.claim(anonymous, user)) }
            return client.send(
                scene.respond(
                    ["words": "w"],
                    ["user_id": thread % 2 == 0 ? anonymous : user, "is_complete": .bool(thread % 3 == 0)]))
        }
        for answers in results {
            #expect(answers.allSatisfy { [200, 201, 409].contains($0.status) }, "\(answers.map(\.description))")
            // Before the claim there may be one under each id.
            #expect((1...2).contains(answers.filter { $0["was_submitted"] == true }.count))
        }
        let live = try scene.responses().filter { !$0.hasSuffix("deleted") }.map { $0.prefix(while: { $0 != " " }) }
        #expect(live.map(String.init) == (0..<rounds).map { "u\($0)" })
        // The other responses are frozen under their own id.
        let others = try scene.responses().filter { $0.hasSuffix("deleted") }
        #expect(others.allSatisfy { $0.hasPrefix("owl_anon_") && $0.hasSuffix("frozen deleted") })
        #expect(try scene.records().allSatisfy { !$0.hasPrefix("owl_anon_") || $0.contains(" -> u") })
        #expect(try Verification.run(Database(app.database.options)) == [])
    }

    @Test func dismissalsAndCompletionsNeverBothWinUnseen() throws {
        let scene = scene
        let results = app.race(16, rounds: rounds) { client, thread, round in
            let user = JSONValue.string("u\(round)")
            return client.send(
                thread % 8 == 0
                    ? scene.dismiss(["user_id": user])
                    : scene.respond(["words": "w"], ["user_id": user, "is_complete": true]))
        }
        for answers in results {
            #expect(answers.allSatisfy { [200, 201, 409].contains($0.status) }, "\(answers.map(\.description))")
            #expect(answers.filter { $0["was_submitted"] == true }.count <= 1)
        }
        #expect(try scene.records() == (0..<rounds).map { "u\($0)" })
    }
}
