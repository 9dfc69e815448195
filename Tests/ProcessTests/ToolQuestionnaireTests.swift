import JSON
import MariaDB
import TestSupport
import Testing

/// `merganserctl questionnaire create` (analytics §12).
@Suite struct ToolQuestionnaireTests {
    let installation: Installation
    let project: String
    let files: TemporaryDirectory
    private let definition = "\(Repository.root)/Tests/Fixtures/questionnaire.json"

    init() throws {
        installation = try Installation()
        project = try installation.project().project
        files = try TemporaryDirectory()
    }

    private func create(_ arguments: String...) throws -> ChildProcess.Outcome {
        try installation.tool(["questionnaire", "create", "--project", project] + arguments)
    }

    private func makeApp(of project: String) throws -> String {
        let app = try installation.created("app", "create", "--project", project, "--platform", "web", "--name", "Web")
        return try #require(app["id"]?.string)
    }

    @Test func createsOneFromAFile() throws {
        let created = try create(definition, "--json").json()
        #expect(
            JSONObject.names(created) == [
                "id", "project_id", "app_id", "slug", "name", "description", "schema", "is_active", "created_at",
            ])
        #expect(created["project_id"] == .string(project))
        #expect(created["app_id"] == .null)
        #expect(created["slug"] == "exit-survey")
        #expect(created["is_active"] == true)
        let stored = try installation.database.connect().all(
            "SELECT HEX(id), HEX(project_id), app_id, slug, name, description, `schema`, is_active FROM questionnaires"
        ) { row in
            (
                try row.read(String.self), try row.read(String.self), try row.read(String?.self),
                try row.read(String.self), try row.read(String.self), try row.read(String?.self),
                try JSONValue(json: Array(try row.read(String.self).utf8)), try row.read(Bool.self)
            )
        }
        let row = try #require(stored.first)
        #expect(stored.count == 1)
        #expect(
            [row.0, row.1].map { $0.lowercased() }
                == ["id", "project_id"].map { created[$0]?.string?.replacing("-", with: "") })
        #expect([.string(row.3), .string(row.4)] == [created["slug"], created["name"]])
        #expect(row.2 == nil)
        #expect(row.5 == "Asked when a subscription ends")
        #expect(row.6 == created["schema"])
        #expect(row.6["questions"]?.array?.count == 4)
        #expect(row.7)

        let again = try create(definition)
        #expect(again.exit == .status(1))
        #expect(
            again.errorOutput
                == "merganserctl: the project has a questionnaire with the slug \"exit-survey\" already; "
                + "choose another one\n")
    }

    @Test func pinsItToAnAppOfTheProject() throws {
        let app = try makeApp(of: project)
        let foreign = try makeApp(of: try installation.project().project)
        let refused = try create(definition, "--app", foreign, "--json")
        #expect(refused.exit == .status(1))
        #expect(
            try refused.errorJSON()["message"]?.string
                == "the project has no app \(foreign); `merganserctl app list --project \(project)` shows those it has")
        let created = try create(definition, "--app", app, "--json").json()
        #expect(created["app_id"] == .string(app))
    }

    @Test func saysWhatItMadeInWords() throws {
        let outcome = try create(definition)
        #expect(outcome.output.wholeMatch(of: /questionnaire  [0-9a-f-]{36}\n/) != nil)
    }

    @Test func namesEveryFaultAtOnce() throws {
        let file = try files.write(
            """
            {"slug": "Exit", "name": "Exit survey", "schema": {"version": 1, "questions": [
                {"id": "a", "type": "rating", "title": "T", "required": true, "scale": 10},
                {"id": "a", "type": "slider", "title": " ", "required": "yes"}
            ]}}
            """, to: "wrong.json")
        let faults = [
            "slug: must be 1 to 64 of a-z, 0-9 and -",
            "schema.questions[0].scale: must be 5",
            "schema.questions[1].type: must be one of text, single_choice, multi_choice, rating, nps",
            "schema.questions[1].title: must be a string of at most 200 characters, not blank and without NUL characters",
            "schema.questions[1].required: must be true or false",
            "schema.questions[1].id: \"a\" is the id of schema.questions[0] already",
        ]
        let words = try create(file)
        #expect(words.exit == .status(1))
        #expect(words.output.isEmpty)
        #expect(
            words.errorOutput
                == (["merganserctl: \(file) does not define a questionnaire"] + faults.map { "  \($0)" })
                .map { $0 + "\n" }.joined())
        let error = try create(file, "--json").errorJSON()
        #expect(error["error"] == "refused")
        #expect(error["problems"] == .array(faults.map { .string($0) }))
        #expect(try installation.database.connect().query("SELECT id FROM questionnaires").isEmpty)
    }

    @Test func saysWhatIsWrongWithTheFile() throws {
        let missing = try create(files.file("none.json"))
        #expect(missing.exit == .status(1))
        #expect(
            missing.errorOutput
                == "merganserctl: \(files.file("none.json")) cannot be read; name a file that holds the definition\n")
        let broken = try files.write("{\"slug\": }", to: "broken.json")
        #expect(
            try create(broken).errorOutput == "merganserctl: \(broken) is not JSON: malformed JSON at byte 9\n")
        let array = try create(try files.write("[]", to: "array.json"), "--json").errorJSON()
        #expect(array["problems"]?.array?.first == "must be an object")
    }

    @Test func refusesAProjectThatIsNotThere() throws {
        let outcome = try installation.tool(["questionnaire", "create", "--project", nobody, definition, "--json"])
        #expect(outcome.exit == .status(1))
        #expect(
            try outcome.errorJSON()["message"]?.string
                == "there is no project \(nobody); `merganserctl project list` shows them")
    }
}
