import JSON

extension DefinitionReader {
    private static let idRule = "must be 1 to 32 of a-z, 0-9 and _"
    private static let types = ["text", "single_choice", "multi_choice", "rating", "nps"]

    /// - Returns: nil if there was a fault.
    mutating func schema(_ json: JSONValue, at path: String) -> QuestionnaireSchema? {
        let before = faults.count
        guard let object = object(json, at: path, members: ["version", "questions"]) else { return nil }
        if object["version"] != 1 { note("version", of: path, "must be 1") }
        let questions = array(object, "questions", at: path, 1...30).enumerated().compactMap { index, json in
            question(json, at: "\(path).questions[\(index)]")
        }
        checkDistinct(questions.map { ($0.question.id, $0.path) })
        return faults.count == before
            ? QuestionnaireSchema(json: json, questions: questions.map(\.question)) : nil
    }

    private mutating func question(_ json: JSONValue, at path: String) -> (question: Question, path: String)? {
        let type = json["type"]?.string
        guard
            let object = object(
                json, at: path, members: ["id", "type", "title", "subtitle", "required"] + members(ofType: type))
        else { return nil }
        let id = id(object, at: path)
        let kind = kind(type, object, at: path)
        text(object, "title", at: path, longest: 200)
        optionalString(object, "subtitle", at: path)
        let isRequired = bool(object, "required", at: path)
        // The missing id is a fault already, so there is nothing to compare.
        guard let id else { return nil }
        return (Question(id: id, kind: kind ?? .text, isRequired: isRequired ?? false), path)
    }

    /// The members that only this type of question has.
    private func members(ofType type: String?) -> [String] {
        switch type {
        case "text": ["placeholder", "multiline"]
        case "single_choice", "multi_choice": ["options"]
        case "rating": ["scale"]
        case "nps": []
        // The type is unknown, so any of these members may be right.
        default: ["placeholder", "multiline", "options", "scale"]
        }
    }

    private mutating func kind(_ type: String?, _ object: JSONObject, at path: String) -> Question.Kind? {
        switch type {
        case "text":
            optionalString(object, "placeholder", at: path)
            if object["multiline"] != nil { bool(object, "multiline", at: path) }
            return .text
        case "single_choice": return .singleChoice(options(object, at: path))
        case "multi_choice": return .multiChoice(options(object, at: path))
        case "rating":
            if object["scale"] != 5 { note("scale", of: path, "must be 5") }
            return .rating
        case "nps": return .nps
        default:
            note("type", of: path, "must be one of \(Self.types.joined(separator: ", "))")
            return nil
        }
    }

    private mutating func options(_ object: JSONObject, at path: String) -> Set<String> {
        let ids = array(object, "options", at: path, 2...20).enumerated().compactMap { index, json in
            option(json, at: "\(path).options[\(index)]")
        }
        checkDistinct(ids)
        return Set(ids.map(\.id))
    }

    private mutating func option(_ json: JSONValue, at path: String) -> (id: String, path: String)? {
        guard let object = object(json, at: path, members: ["id", "label"]) else { return nil }
        let id = id(object, at: path)
        text(object, "label", at: path)
        return id.map { ($0, path) }
    }

    private mutating func id(_ object: JSONObject, at path: String) -> String? {
        guard let id = object["id"]?.string, (1...Question.longestID).contains(id.utf8.count),
            id.utf8.allSatisfy(isOfID)
        else {
            note("id", of: path, Self.idRule)
            return nil
        }
        return id
    }

    private mutating func checkDistinct(_ ids: [(id: String, path: String)]) {
        var seen: [String: String] = [:]
        for (id, path) in ids {
            if let first = seen[id] {
                note("id", of: path, "\"\(id)\" is the id of \(first) already")
            } else {
                seen[id] = path
            }
        }
    }
}

private func isOfID(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
}
