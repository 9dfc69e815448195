package import JSON

/// The questions of a questionnaire (analytics §12).
package struct QuestionnaireSchema: Sendable {
    /// The JSON as it was defined. Clients and snapshots get this.
    package let json: JSONValue
    let questions: [Question]

    /// The JSON text to store.
    var text: String { String(decoding: json.json(), as: UTF8.self) }

    /// - Throws: `InvalidQuestionnaire` if the stored text is not valid, because somebody changed it by hand.
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

/// The part of a question that its answers depend on.
struct Question: Sendable {
    enum Kind: Sendable {
        case text
        /// The ids of the options.
        case singleChoice(Set<String>)
        case multiChoice(Set<String>)
        case rating
        case nps
    }

    /// The longest id of a question or an option, in bytes.
    static let longestID = 32

    /// 1 to 32 of `a-z 0-9 _`, like the ids of options. For such text `String` equality is byte equality.
    let id: String
    let kind: Kind
    let isRequired: Bool
}
