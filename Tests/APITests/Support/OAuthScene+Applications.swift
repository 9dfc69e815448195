import HTTP
import JSON
import Testing

extension OAuthScene {
    static let applications = "/api/v1/applications"

    /// A user who may register applications.
    func developer(_ subject: String = "developer", role: String = "developer") throws -> Phone {
        let phone = try person(subject, email: nil)
        try app.change("UPDATE users SET role = ? WHERE id = ?", role, phone.userID)
        return phone
    }

    /// What a new application needs, and more.
    func members(_ more: KeyValuePairs<String, JSONValue?> = [:]) -> JSONValue {
        let least: JSONValue = [
            "name": "Notes", "client_type": "public", "redirect_uris": ["com.example.notes://callback"],
        ]
        return least.adding(more)
    }

    func create(_ members: JSONValue, by developer: Phone) -> Answer {
        client.send(.post, Self.applications, ["application": members], token: developer.token)
    }

    /// - Returns: the new application's client_id.
    func create(by developer: Phone, _ more: KeyValuePairs<String, JSONValue?> = [:]) throws -> String {
        let answer = create(members(more), by: developer)
        return try #require(answer["client_id"]?.string, "\(answer)")
    }

    func patch(_ clientID: String, _ members: JSONValue, by developer: Phone) -> Answer {
        client.send(.patch, "\(Self.applications)/\(clientID)", ["application": members], token: developer.token)
    }

    func show(_ clientID: String, to developer: Phone) -> Answer {
        client.send(.get, "\(Self.applications)/\(clientID)", token: developer.token)
    }

    func names(_ value: JSONValue) -> [String] {
        guard case .object(let object) = value else { return [] }
        return object.members.map(\.name)
    }

    /// The audit log's newest rows about applications, oldest first.
    func audited(since id: Int = 0) throws -> [String] {
        try app.column(
            """
            SELECT CONCAT_WS(' ', COALESCE(user_id, '-'), actor, action, details) FROM audit_log
            WHERE id > ? AND (action LIKE 'application.%' OR action LIKE 'webhook_key.%' OR action LIKE 'scope.%')
            ORDER BY id
            """, id)
    }
}
