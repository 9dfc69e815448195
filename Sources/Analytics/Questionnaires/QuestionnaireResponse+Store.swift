import JSON
import MariaDB
import Time

extension QuestionnaireResponse {
    init(from row: inout Row) throws {
        id = try row.read()
        answers = try Self.object(stored: try row.read())
        isSubmitted = try row.read()
        createdAt = try row.read()
    }

    static func object(stored: String) throws -> JSONObject {
        guard case .object(let object) = try JSONValue(json: Array(stored.utf8)) else { return JSONObject([]) }
        return object
    }
}
