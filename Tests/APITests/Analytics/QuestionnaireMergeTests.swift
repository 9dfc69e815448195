import JSON
import TestSupport
import Testing

/// How a claim changes questionnaire responses (analytics §5).
@Suite struct QuestionnaireMergeTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client

    init() throws {
        app = try TestApp()
        scene = try AnalyticsScene(app)
        client = app.client()
        for slug in ["a", "b", "c"] { try scene.makeQuestionnaire(slug) }
    }

    private func save(_ slug: String, _ user: JSONValue, complete: Bool = false) {
        let answer = client.send(
            scene.respond(["words": user], ["user_id": user, "is_complete": .bool(complete)], to: slug))
        #expect(answer.status == 201)
    }

    private func rows() throws -> [String] {
        try app.rows(
            """
            SELECT id, answers, status, submitted_at, created_at, updated_at
            FROM questionnaire_responses WHERE deleted_at IS NULL ORDER BY id
            """)
    }

    @Test(arguments: [false, true])
    func whatOnlyTheAnonymousRecordHasMovesUnchanged(isComplete: Bool) throws {
        save("a", "owl_anon_x", complete: isComplete)
        save("b", "owl_anon_x", complete: isComplete)
        save("c", "u")
        let before = try rows()
        app.time.advance(by: .seconds(60))
        #expect(client.send(scene.claim("owl_anon_x", "u")).status == 200)
        #expect(try rows() == before)
        let status = isComplete ? "new" : "draft"
        #expect(
            try scene.responses() == [
                #"u a \#(status) {"words":"owl_anon_x"}"#, #"u b \#(status) {"words":"owl_anon_x"}"#,
                #"u c draft {"words":"u"}"#,
            ])
    }

    @Test(arguments: [false, true], [false, true])
    func whatTheRealRecordHasStays(anonymousIsComplete: Bool, realIsComplete: Bool) throws {
        save("a", "owl_anon_x", complete: anonymousIsComplete)
        save("b", "owl_anon_x")
        save("a", "u", complete: realIsComplete)
        let before = try app.column(
            "SELECT CONCAT_WS(' ', HEX(id), status, submitted_at, created_at) FROM questionnaire_responses ORDER BY id")
        app.time.advance(by: .seconds(60))
        #expect(client.send(scene.claim("owl_anon_x", "u")).status == 200)
        let (anonymous, real) = (anonymousIsComplete ? "new" : "draft", realIsComplete ? "new" : "draft")
        #expect(
            try scene.responses() == [
                #"owl_anon_x a \#(anonymous) {"words":"owl_anon_x"} frozen deleted"#,
                #"u a \#(real) {"words":"u"}"#, #"u b draft {"words":"owl_anon_x"}"#,
            ])
        #expect(
            try app.column(
                "SELECT CONCAT_WS(' ', HEX(id), status, submitted_at, created_at) FROM questionnaire_responses ORDER BY id"
            )
                == before)
        #expect(
            try app.column(
                """
                SELECT CONCAT_WS(' ', frozen_user_id, deleted_at = updated_at, TIMESTAMPDIFF(SECOND, created_at, deleted_at))
                FROM questionnaire_responses WHERE updated_at > created_at
                """) == ["owl_anon_x 1 60"])
        #expect(
            try app.column("SELECT user_id FROM questionnaire_responses_resolved ORDER BY user_id")
                == ["owl_anon_x", "u", "u"])
    }

    @Test func aDeletedRowOfTheRealRecordIsNotInTheWay() throws {
        save("a", "u")
        try app.change("UPDATE questionnaire_responses SET deleted_at = created_at")
        save("a", "owl_anon_x")
        #expect(client.send(scene.claim("owl_anon_x", "u")).status == 200)
        #expect(
            try scene.responses() == [
                #"u a draft {"words":"owl_anon_x"}"#, #"u a draft {"words":"u"} deleted"#,
            ])
    }

    @Test func whatTheAnonymousRecordHadDeletedStaysItsOwn() throws {
        save("a", "owl_anon_x")
        try app.change("UPDATE questionnaire_responses SET deleted_at = created_at")
        save("a", "owl_anon_x")
        save("b", "u")
        let updated = try app.column("SELECT DISTINCT CAST(updated_at AS CHAR) FROM questionnaire_responses")
        app.time.advance(by: .seconds(60))
        #expect(client.send(scene.claim("owl_anon_x", "u")).status == 200)
        #expect(
            try scene.responses() == [
                #"owl_anon_x a draft {"words":"owl_anon_x"} frozen deleted"#, #"u a draft {"words":"owl_anon_x"}"#,
                #"u b draft {"words":"u"}"#,
            ])
        #expect(
            try app.column("SELECT DISTINCT CAST(updated_at AS CHAR) FROM questionnaire_responses") == updated)
    }

    @Test func aRenamedRecordKeepsWhatItHas() throws {
        save("a", "owl_anon_x", complete: true)
        let before = try rows()
        #expect(client.send(scene.claim("owl_anon_x", "u")).status == 200)
        #expect(try rows() == before)
        #expect(try scene.responses() == [#"u a new {"words":"owl_anon_x"}"#])
        #expect(
            client.send(scene.respond(["words": "w"], ["user_id": "owl_anon_x"], to: "a"))["reason"]
                == "already_responded")
    }
}
