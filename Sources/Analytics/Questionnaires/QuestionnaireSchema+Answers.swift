import JSON
internal import Text

/// Rules for answers (analytics §12). The texts of the specification's table stand here.
extension QuestionnaireSchema {
    static let longestText = 4000

    /// Checks the answers of one save.
    ///
    /// - Returns: the answers that are not empty. Null, a blank string and an empty array are empty.
    /// - Throws: the first fault. Unknown questions come first, in the order sent; then the faults of answers, in the
    ///   order of the questions.
    func check(_ answers: JSONValue?) throws(Refusal) -> JSONObject {
        guard case .object(let answers) = answers else { throw .invalid("answers must be an object") }
        let answered = JSONObject(answers.members.filter { !$0.value.isUnanswered }.map { ($0.name, $0.value) })
        for answer in answers.members where !questions.contains(where: { $0.id.utf8.elementsEqual(answer.name.utf8) }) {
            throw .invalid("unknown question id \"\(answer.name)\"")
        }
        for question in questions {
            if let answer = answered[question.id] { try question.check(answer) }
        }
        return answered
    }

    /// The answers that a completed response keeps: those to questions that still exist.
    ///
    /// - Throws: if a required question has no answer.
    func complete(_ answers: JSONObject) throws(Refusal) -> JSONObject {
        for question in questions where question.isRequired && answers[question.id] == nil {
            throw .invalid("\"\(question.id)\" is required")
        }
        return JSONObject(questions.compactMap { question in answers[question.id].map { (question.id, $0) } })
    }
}

extension JSONObject {
    /// These answers, overridden by the answers of a later save.
    func merged(with later: JSONObject) -> JSONObject {
        JSONObject((members + later.members).map { ($0.name, $0.value) })
    }
}

extension Question {
    fileprivate func check(_ answer: JSONValue) throws(Refusal) {
        switch kind {
        case .text:
            guard let text = answer.string else { throw .invalid("\"\(id)\" must be a string") }
            if text.isLonger(than: QuestionnaireSchema.longestText) {
                throw .invalid("\"\(id)\" exceeds \(QuestionnaireSchema.longestText) chars")
            }
            try text.checkForNUL(field: "answers")
        case .singleChoice(let options):
            guard let option = answer.string else { throw .invalid("\"\(id)\" must be a string option id") }
            try check(option, among: options)
        case .multiChoice(let options):
            guard let selection = answer.array else { throw .invalid("\"\(id)\" must be an array") }
            var seen: Set<String> = []
            for entry in selection {
                guard let option = entry.string else { throw .invalid("\"\(id)\" entries must be strings") }
                try check(option, among: options)
                if !seen.insert(option).inserted {
                    throw .invalid("\"\(id)\" has duplicate selection \"\(option)\"")
                }
            }
        case .rating: try check(answer, within: 1...5)
        case .nps: try check(answer, within: 0...10)
        }
    }

    private func check(_ option: String, among options: Set<String>) throws(Refusal) {
        // Checks the length first: hashing a long text of combining marks takes quadratic time.
        let isOne = option.utf8.count <= Self.longestID && options.contains(option)
        if !isOne { throw .invalid("\"\(option)\" is not a valid option for \"\(id)\"") }
    }

    private func check(_ answer: JSONValue, within range: ClosedRange<Int64>) throws(Refusal) {
        if case .integer(let number) = answer, range.contains(number) { return }
        throw .invalid("\"\(id)\" must be an integer \(range.lowerBound)-\(range.upperBound)")
    }
}

extension JSONValue {
    fileprivate var isUnanswered: Bool {
        switch self {
        case .null: true
        case .string(let text): text.trimmed.isEmpty
        case .array(let elements): elements.isEmpty
        default: false
        }
    }
}
