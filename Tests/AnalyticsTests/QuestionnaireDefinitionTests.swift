import JSON
import Testing

@testable import Analytics

/// Which definitions are valid (analytics §12).
@Suite struct QuestionnaireDefinitionTests {
    private static let question: JSONValue = ["id": "q", "type": "text", "title": "Why?", "required": false]
    private static let options: JSONValue = [["id": "a", "label": "A"], ["id": "b", "label": "B"]]
    private static let textLimit = "must be a string of at most 200 characters, not blank and without NUL characters"

    private static func questionnaire(_ changes: [String: JSONValue?] = [:]) -> JSONValue {
        object(["slug": "exit-survey", "name": "Exit survey", "schema": schema([question])], changes)
    }

    private static func schema(_ questions: [JSONValue]) -> JSONValue {
        ["version": 1, "questions": .array(questions)]
    }

    /// - Parameter changes: nil removes a member.
    private static func object(_ members: [String: JSONValue], _ changes: [String: JSONValue?]) -> JSONValue {
        .object(
            JSONObject(
                members.mapValues { Optional($0) }.merging(changes) { $1 }.compactMap { name, value in
                    value.map { (name, $0) }
                }))
    }

    private static func question(_ changes: [String: JSONValue?]) -> JSONValue {
        object(["id": "q", "type": "text", "title": "Why?", "required": false], changes)
    }

    private func faults(_ json: JSONValue) -> [String] {
        do {
            _ = try QuestionnaireDefinition(json)
            return []
        } catch {
            return error.faults
        }
    }

    @Test func everythingThatIsAllowed() throws {
        let schema = Self.schema([
            [
                "id": "why", "type": "text", "title": "Why?", "subtitle": "", "required": true, "placeholder": "…",
                "multiline": true,
            ],
            ["id": "one", "type": "single_choice", "title": "Which?", "required": false, "options": Self.options],
            ["id": "some_2", "type": "multi_choice", "title": "Which?", "required": false, "options": Self.options],
            ["id": "stars", "type": "rating", "title": "How?", "required": false, "scale": 5],
            ["id": "nps", "type": "nps", "title": "😀", "required": false],
        ])
        let definition = try QuestionnaireDefinition(
            Self.questionnaire(["schema": schema, "description": "", "is_active": false]))
        #expect(definition.slug.rawValue == "exit-survey")
        #expect(definition.name == "Exit survey")
        #expect(definition.description == "")
        #expect(!definition.isActive)
        #expect(definition.schema.json == schema)
        #expect(definition.schema.questions.map(\.id) == ["why", "one", "some_2", "stars", "nps"])
        #expect(definition.schema.questions.map(\.isRequired) == [true, false, false, false, false])
        #expect(try QuestionnaireSchema(stored: definition.schema.text).json == schema)
    }

    @Test func itIsActiveUnlessItSaysOtherwise() throws {
        let definition = try QuestionnaireDefinition(Self.questionnaire())
        #expect(definition.isActive)
        #expect(definition.description == nil)
    }

    @Test(
        arguments: [
            ("slug", nil, "slug: must be 1 to 64 of a-z, 0-9 and -"),
            ("slug", "", "slug: must be 1 to 64 of a-z, 0-9 and -"),
            ("slug", "Exit", "slug: must be 1 to 64 of a-z, 0-9 and -"),
            ("slug", "exit_survey", "slug: must be 1 to 64 of a-z, 0-9 and -"),
            ("slug", .string(String(repeating: "a", count: 65)), "slug: must be 1 to 64 of a-z, 0-9 and -"),
            ("name", nil, "name: \(textLimit)"), ("name", " \n", "name: \(textLimit)"),
            ("name", 5, "name: \(textLimit)"),
            ("name", "a\0", "name: \(textLimit)"),
            ("name", .string(String(repeating: "😀", count: 101)), "name: \(textLimit)"),
            ("description", 5, "description: must be a string without NUL characters, if it is there"),
            ("description", .null, "description: must be a string without NUL characters, if it is there"),
            ("description", "\0", "description: must be a string without NUL characters, if it is there"),
            (
                "description", .string(String(repeating: "ä", count: 32_768)),
                "description: must be at most 65535 bytes in UTF-8"
            ),
            ("is_active", "yes", "is_active: must be true or false"),
            ("schema", nil, "schema: must be an object"), ("schema", [], "schema: must be an object"),
            (
                "app_id", "x",
                "has no member \"app_id\"; its members are slug, name, description, is_active, schema"
            ),
            ("schema", ["version": 2, "questions": [question]], "schema.version: must be 1"),
            ("schema", ["questions": [question]], "schema.version: must be 1"),
            ("schema", ["version": 1], "schema.questions: must be an array of 1 to 30"),
            ("schema", ["version": 1, "questions": []], "schema.questions: must be an array of 1 to 30"),
            ("schema", ["version": 1, "questions": ["q": 1]], "schema.questions: must be an array of 1 to 30"),
            (
                "schema", ["version": 1, "questions": [question], "title": "x"],
                "schema: has no member \"title\"; its members are version, questions"
            ),
            ("schema", ["version": 1, "questions": [question, 5]], "schema.questions[1]: must be an object"),
        ] as [(String, JSONValue?, String)])
    func oneFaultIsNamed(member: String, value: JSONValue?, fault: String) {
        #expect(faults(Self.questionnaire([member: value])) == [fault])
    }

    @Test(
        arguments: [
            (["id": nil], ".id: must be 1 to 32 of a-z, 0-9 and _"),
            (["id": ""], ".id: must be 1 to 32 of a-z, 0-9 and _"),
            (["id": "Q"], ".id: must be 1 to 32 of a-z, 0-9 and _"),
            (["id": "q-1"], ".id: must be 1 to 32 of a-z, 0-9 and _"),
            (["id": "ä"], ".id: must be 1 to 32 of a-z, 0-9 and _"),
            (["id": .string(String(repeating: "q", count: 33))], ".id: must be 1 to 32 of a-z, 0-9 and _"),
            (["type": nil], ".type: must be one of text, single_choice, multi_choice, rating, nps"),
            (["type": "slider", "scale": 7], ".type: must be one of text, single_choice, multi_choice, rating, nps"),
            (["title": nil], ".title: \(textLimit)"), (["title": "\t"], ".title: \(textLimit)"),
            (["title": .string(String(repeating: "t", count: 201))], ".title: \(textLimit)"),
            (["subtitle": .null], ".subtitle: must be a string without NUL characters, if it is there"),
            (["required": nil], ".required: must be true or false"),
            (["required": 1], ".required: must be true or false"),
            (["placeholder": 5], ".placeholder: must be a string without NUL characters, if it is there"),
            (["multiline": "yes"], ".multiline: must be true or false"),
            (
                ["scale": 5],
                ": has no member \"scale\"; its members are id, type, title, subtitle, required, placeholder, multiline"
            ),
            (["type": "rating"], ".scale: must be 5"), (["type": "rating", "scale": 10], ".scale: must be 5"),
            (["type": "rating", "scale": "5"], ".scale: must be 5"),
            (
                ["type": "nps", "scale": 10],
                ": has no member \"scale\"; its members are id, type, title, subtitle, required"
            ),
            (["type": "single_choice"], ".options: must be an array of 2 to 20"),
            (
                ["type": "multi_choice", "options": [["id": "a", "label": "A"]]],
                ".options: must be an array of 2 to 20"
            ),
            (
                [
                    "type": "single_choice",
                    "options": .array((0...20).map { ["id": .string("o\($0)"), "label": "L"] }),
                ],
                ".options: must be an array of 2 to 20"
            ),
            (
                ["type": "single_choice", "options": [["id": "a", "label": "A"], ["id": "a", "label": "B"]]],
                ".options[1].id: \"a\" is the id of schema.questions[0].options[0] already"
            ),
            (
                ["type": "single_choice", "options": [["id": "a", "label": "A"], ["id": "B", "label": "B"]]],
                ".options[1].id: must be 1 to 32 of a-z, 0-9 and _"
            ),
            (
                ["type": "multi_choice", "options": [["id": "a", "label": "A"], ["id": "b", "label": " "]]],
                ".options[1].label: must be a string, not blank and without NUL characters"
            ),
            (
                ["type": "multi_choice", "options": [["id": "a", "label": "A"], "b"]], ".options[1]: must be an object"
            ),
        ] as [([String: JSONValue?], String)])
    func oneFaultInAQuestionIsNamed(changes: [String: JSONValue?], fault: String) {
        #expect(
            faults(Self.questionnaire(["schema": Self.schema([Self.question(changes)])]))
                == ["schema.questions[0]" + fault])
    }

    @Test func limitsMayBeReached() {
        let questions = (1...30).map { number in
            Self.question([
                "id": .string("q\(number)" + String(repeating: "_", count: 32 - "q\(number)".count)),
                "title": .string(String(repeating: "😀", count: 100)), "type": "multi_choice",
                "options": .array((1...20).map { ["id": .string("o\($0)"), "label": "L"] }),
            ])
        }
        #expect(
            faults(
                Self.questionnaire([
                    "slug": .string(String(repeating: "-", count: 64)), "schema": Self.schema(questions),
                ])) == [])
        #expect(
            faults(Self.questionnaire(["schema": Self.schema(questions + [Self.question])]))
                == ["schema.questions: must be an array of 1 to 30"])
    }

    @Test func allFaultsAreNamedAtOnce() {
        let schema: JSONValue = [
            "version": "1",
            "questions": [
                ["id": "q", "type": "rating", "title": "", "required": false, "scale": 4], Self.question,
                ["type": "none"],
            ],
        ]
        #expect(
            faults(["slug": "No", "schema": schema, "x": 1]) == [
                "has no member \"x\"; its members are slug, name, description, is_active, schema",
                "slug: must be 1 to 64 of a-z, 0-9 and -", "name: \(Self.textLimit)", "schema.version: must be 1",
                "schema.questions[0].scale: must be 5", "schema.questions[0].title: \(Self.textLimit)",
                "schema.questions[2].id: must be 1 to 32 of a-z, 0-9 and _",
                "schema.questions[2].type: must be one of text, single_choice, multi_choice, rating, nps",
                "schema.questions[2].title: \(Self.textLimit)",
                "schema.questions[2].required: must be true or false",
                "schema.questions[1].id: \"q\" is the id of schema.questions[0] already",
            ])
        #expect(faults([]).first == "must be an object")
    }
}
