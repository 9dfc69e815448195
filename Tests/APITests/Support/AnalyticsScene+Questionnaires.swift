import Analytics
import HTTP
import JSON
import MariaDB
import TestSupport

/// SDK requests about feedback and questionnaires. The given members replace those of a valid request.
extension AnalyticsScene {
    func feedback(_ members: KeyValuePairs<String, JSONValue?> = [:], token: String? = nil) -> RepeatableRequest {
        post(
            "/v1/feedback", (["bundle_id": "com.example", "message": "It crashes"] as JSONValue).adding(members), token)
    }

    /// - Parameter query: what follows `bundle_id`: `&user_id=u`.
    func show(_ slug: String = "survey", _ query: String = "", token: String? = nil) -> RepeatableRequest {
        RepeatableRequest(
            method: .get, path: "/v1/questionnaires/\(slug)?bundle_id=com.example\(query)", token: token ?? clientKey)
    }

    func dismiss(_ members: KeyValuePairs<String, JSONValue?>, token: String? = nil) -> RepeatableRequest {
        post("/v1/questionnaires/dismiss", (["bundle_id": "com.example"] as JSONValue).adding(members), token)
    }

    func respond(
        _ answers: JSONValue?, _ members: KeyValuePairs<String, JSONValue?> = [:], to slug: String = "survey",
        token: String? = nil
    ) -> RepeatableRequest {
        let body: JSONValue = ["bundle_id": "com.example"]
        return post(
            "/v1/questionnaires/\(slug)/responses", body.adding(["answers": answers]).adding(members), token)
    }

    /// With a question of each type: `words` (required), `one`, `some`, `stars` and `nps`.
    static let schema: JSONValue = [
        "version": 1,
        "questions": [
            ["id": "words", "type": "text", "title": "Why?", "required": true],
            ["id": "one", "type": "single_choice", "title": "Which?", "required": false, "options": options],
            ["id": "some", "type": "multi_choice", "title": "Which?", "required": false, "options": options],
            ["id": "stars", "type": "rating", "title": "How good?", "required": false, "scale": 5],
            ["id": "nps", "type": "nps", "title": "How likely?", "required": false],
        ],
    ]

    private static let options: JSONValue = [["id": "a", "label": "A"], ["id": "b", "label": "B"]]

    /// - Parameter pinnedTo: the only app that shows it.
    /// - Returns: its id.
    @discardableResult
    func makeQuestionnaire(
        _ slug: String = "survey", schema: JSONValue = schema, pinnedTo: UUID? = nil, isActive: Bool = true
    ) throws -> UUID {
        let id = UUID(at: app.time.now)
        try app.change(
            """
            INSERT INTO questionnaires (id, project_id, app_id, slug, name, `schema`, is_active, created_at, updated_at)
            VALUES (?, ?, ?, ?, 'Survey', ?, ?, ?, ?)
            """, id, project, pinnedTo, slug, String(decoding: schema.json(), as: UTF8.self), isActive, app.time.now,
            app.time.now)
        return id
    }

    /// Live and deleted responses: `user slug status answers`, followed by `frozen` or `deleted` if it applies.
    func responses() throws -> [String] {
        try app.rows(
            """
            SELECT COALESCE(u.user_id, r.frozen_user_id, '-'), r.slug, r.status, r.answers,
                   IF(r.frozen_user_id IS NULL, NULL, 'frozen'), IF(r.deleted_at IS NULL, NULL, 'deleted')
            FROM questionnaire_responses r LEFT JOIN app_users u ON u.id = r.app_user_id
            WHERE r.project_id = x'\(project.digits)'
            """
        ).sorted()
    }

    /// Uses the client key once. The server notes uses once a minute, so the next requests do not write it.
    func useKey(_ client: Client) {
        _ = client.send(.get, "/v1/questionnaires/none", token: clientKey)
    }
}

extension TestApp {
    /// Rows with a space between columns, NULLs left out.
    func rows(_ sql: String) throws -> [String] {
        try self.sql { db in
            try db.query(sql).map { row in
                row.compactMap { $0.map { String(decoding: $0, as: UTF8.self) } }.joined(separator: " ")
            }
        }
    }
}
