import Analytics
import HTTP
import JSON

private struct PropertiesReply: Encodable {
    var updated = true
    var properties: JSONValue
}

/// `POST /v1/identity/properties` (analytics §6).
@Sendable func updateProperties(_ call: Call, _ proof: KeyProof) throws -> Response {
    let fields = try call.fields()
    let userID = try fields.endUserID("user_id")
    guard case .object(let properties) = fields["properties"] else {
        throw Refusal.invalid("properties must be an object")
    }
    let changes = try properties.members.map { member in
        try UpdateProperties.check(key: member.name, value: member.value.string)
        return (key: member.name, value: member.value.string ?? "")
    }
    try userID.check(field: "user_id")
    if changes.contains(where: { $0.key.hasNUL || $0.value.hasNUL }) {
        throw Refusal.invalid("properties must not contain NUL characters")
    }
    let project = try proof.key.liveApp().project.id
    let state = try call.analytics.updateProperties(
        UpdateProperties(userID: userID, changes: PropertyChanges(changes)), in: project, proof,
        call.database)
    return .json(.ok, PropertiesReply(properties: .object(state.object)))
}
