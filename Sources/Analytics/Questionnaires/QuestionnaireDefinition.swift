package import JSON

/// A questionnaire in the form that an operator writes: `{"slug", "name", "description"?, "is_active"?, "schema"}`.
package struct QuestionnaireDefinition: Sendable {
    package let slug: Questionnaire.Slug
    package let name: String
    package let description: String?
    package let isActive: Bool
    package let schema: QuestionnaireSchema

    /// The size of the column, in bytes.
    private static let longestDescription = 65_535

    /// - Throws: all faults at once.
    package init(_ json: JSONValue) throws(InvalidQuestionnaire) {
        var reader = DefinitionReader()
        let root = ""
        let object =
            reader.object(json, at: root, members: ["slug", "name", "description", "is_active", "schema"])
            ?? JSONObject([])
        let slug = object["slug"]?.string.flatMap(Questionnaire.Slug.init)
        if slug == nil { reader.note("slug", of: root, "must be 1 to \(Questionnaire.Slug.longest) of a-z, 0-9 and -") }
        let name = reader.text(object, "name", at: root, longest: 200)
        description = reader.optionalString(object, "description", at: root)
        if let description, description.utf8.count > Self.longestDescription {
            reader.note("description", of: root, "must be at most \(Self.longestDescription) bytes in UTF-8")
        }
        isActive = object["is_active"] == nil || reader.bool(object, "is_active", at: root) == true
        let schema = reader.schema(object["schema"] ?? .null, at: "schema")
        guard let slug, let name, let schema, reader.faults.isEmpty else {
            throw InvalidQuestionnaire(faults: reader.faults)
        }
        self.slug = slug
        self.name = name
        self.schema = schema
    }
}

/// Why a definition cannot be used.
package struct InvalidQuestionnaire: Error, Equatable {
    /// All faults, one line each: `schema.questions[0].title: must be …`.
    package let faults: [String]
}
