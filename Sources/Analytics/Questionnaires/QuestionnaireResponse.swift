package import JSON
package import Time

/// What one end user answered, or one save without a user.
package struct QuestionnaireResponse: Sendable {
    package typealias ID = EntityID<QuestionnaireResponse>

    package let id: ID
    package let answers: JSONObject
    package let isSubmitted: Bool
    package let createdAt: Timestamp
}
