package import JSON

/// The questions of a questionnaire (analytics §12).
package struct QuestionnaireSchema: Sendable {
    /// As it was defined: what clients and snapshots get.
    package let json: JSONValue
    let questions: [Question]

    /// The text that is stored.
    var text: String { String(decoding: json.json(), as: UTF8.self) }

    /// - Throws: `InvalidQuestionnaire` when somebody else than `create` wrote it.
    init(stored: String) throws {
        var reader = DefinitionReader()
        let schema = reader.schema(try JSONValue(json: Array(stored.utf8)), at: "schema")
        guard let schema else { throw InvalidQuestionnaire(faults: reader.faults) }
        self = schema
    }

    init(json: JSONValue, questions: [Question]) {
        self.json = json
        self.questions = questions
    }
}
