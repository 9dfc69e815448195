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

/// One question of a schema, as far as its answers depend on it.
struct Question: Sendable {
    enum Kind: Sendable {
        case text
        /// With the ids of the options.
        case singleChoice(Set<String>)
        case multiChoice(Set<String>)
        case rating
        case nps
    }

    /// Of this one and of options, in bytes.
    static let longestID = 32

    /// Of `a-z 0-9 _`, like the ids of options: `String`'s equality of such text is that of its bytes.
    let id: String
    let kind: Kind
    let isRequired: Bool
}
