package import JSON
import MariaDB
package import Time

/// The answers of one end user, or of one save without a user.
package struct QuestionnaireResponse: Sendable {
    package typealias ID = EntityID<QuestionnaireResponse>

    package let id: ID
    package let answers: JSONObject
    package let isSubmitted: Bool
    package let createdAt: Timestamp
}

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
