import JSON
import Testing

@testable import Analytics

/// Which answers are valid, and how saves combine them (analytics §12).
@Suite struct AnswerTests {
    private let schema: QuestionnaireSchema

    init() throws {
        let options: JSONValue = [["id": "a", "label": "A"], ["id": "b", "label": "B"]]
        let questions: JSONValue = [
            ["id": "words", "type": "text", "title": "T", "required": true],
            ["id": "one", "type": "single_choice", "title": "T", "required": false, "options": options],
            ["id": "some", "type": "multi_choice", "title": "T", "required": true, "options": options],
            ["id": "stars", "type": "rating", "title": "T", "required": false, "scale": 5],
            ["id": "nps", "type": "nps", "title": "T", "required": false],
        ]
        schema = try QuestionnaireSchema(
            stored: String(decoding: (["version": 1, "questions": questions] as JSONValue).json(), as: UTF8.self))
    }

    private func refusal(of answers: JSONValue?) -> Refusal? {
        do {
            _ = try schema.check(answers)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (nil, "answers must be an object"), (.null, "answers must be an object"), ([], "answers must be an object"),
            ("a", "answers must be an object"),
            (["other": 5], #"unknown question id "other""#), (["other": .null], #"unknown question id "other""#),
            (["Words": "a"], #"unknown question id "Words""#), (["": "a"], #"unknown question id """#),
            (["words": 5], #""words" must be a string"#), (["words": ["a"]], #""words" must be a string"#),
            (["words": [:]], #""words" must be a string"#), (["words": false], #""words" must be a string"#),
            (["words": .string(String(repeating: "😀", count: 2000) + "x")], #""words" exceeds 4000 chars"#),
            (["words": "a\0"], "answers must not contain NUL characters"),
            (["one": 1], #""one" must be a string option id"#), (["one": ["a"]], #""one" must be a string option id"#),
            (["one": "c"], #""c" is not a valid option for "one""#),
            (["one": "A"], #""A" is not a valid option for "one""#),
            (["one": "a "], #""a " is not a valid option for "one""#),
            (["some": "a"], #""some" must be an array"#), (["some": true], #""some" must be an array"#),
            (["some": ["a", 1]], #""some" entries must be strings"#),
            (["some": [.null]], #""some" entries must be strings"#),
            (["some": ["a", "c"]], #""c" is not a valid option for "some""#),
            (["some": [""]], #""" is not a valid option for "some""#),
            (["some": ["a", "b", "a"]], #""some" has duplicate selection "a""#),
            (["some": ["a", "a", 1]], #""some" has duplicate selection "a""#),
            (["stars": 0], #""stars" must be an integer 1-5"#), (["stars": 6], #""stars" must be an integer 1-5"#),
            (["stars": 2.5], #""stars" must be an integer 1-5"#), (["stars": "3"], #""stars" must be an integer 1-5"#),
            (["stars": true], #""stars" must be an integer 1-5"#),
            (["nps": -1], #""nps" must be an integer 0-10"#), (["nps": 11], #""nps" must be an integer 0-10"#),
            (["nps": [5]], #""nps" must be an integer 0-10"#),
            // Unknown questions come first, then questions in their order.
            (["stars": 0, "words": 5, "other": 1, "another": 2], #"unknown question id "other""#),
            (["stars": 0, "words": 5], #""words" must be a string"#),
        ] as [(JSONValue?, String)])
    func theFirstFaultIsNamed(answers: JSONValue?, text: String) {
        #expect(refusal(of: answers) == .invalid(text))
    }

    @Test(
        arguments: [
            ["words": "  as sent \n"], ["words": .string(String(repeating: "😀", count: 2000))], ["one": "b"],
            ["some": ["b", "a"]], ["stars": 1], ["stars": 5], ["nps": 0], ["nps": 10],
            ["nps": 7, "words": "e\u{301}"],
        ] as [JSONValue])
    func answersAreKeptAsSent(answers: JSONValue) throws {
        #expect(try JSONValue.object(schema.check(answers)) == answers)
    }

    @Test func aNumberIsIntegralHoweverItIsWritten() throws {
        #expect(try schema.check(try JSONValue(json: Array(#"{"stars":5.0,"nps":1e1}"#.utf8)))["nps"] == 10)
    }

    @Test(arguments: ["words", "one", "some", "stars", "nps"], [.null, "", " \t\u{2003}\n", []] as [JSONValue])
    func whatIsNotAnsweredLeavesWhatIsSaved(question: String, value: JSONValue) throws {
        let saved = try schema.check(["words": "w", "one": "a", "some": ["a"], "stars": 1, "nps": 0])
        let later = try schema.check(.object(JSONObject([(question, value)])))
        #expect(later.members.isEmpty)
        #expect(saved.merged(with: later) == saved)
    }

    @Test func aLaterAnswerTakesTheEarliersPlace() throws {
        let saved = try schema.check(["words": "first", "some": ["a"]])
        let merged = saved.merged(with: try schema.check(["words": "second", "nps": 3]))
        #expect(merged == JSONObject([("words", "second"), ("some", ["a"]), ("nps", 3)]))
    }

    @Test func completingDropsWhatIsNoQuestionAnyMore() throws {
        let saved = JSONObject([("gone", "x"), ("nps", 3), ("some", ["a"]), ("words", "w")])
        #expect(try schema.complete(saved) == JSONObject([("words", "w"), ("some", ["a"]), ("nps", 3)]))
    }

    @Test(
        arguments: [
            ([:], "words"), (["some": ["a"]], "words"), (["words": "w"], "some"), (["words": "w", "nps": 0], "some"),
        ] as [(JSONValue, String)])
    func completingNeedsWhatIsRequired(answers: JSONValue, missing: String) throws {
        let answered = try schema.check(answers)
        #expect(throws: Refusal.invalid("\"\(missing)\" is required")) { try schema.complete(answered) }
    }
}
