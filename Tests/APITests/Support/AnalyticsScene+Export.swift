import Analytics
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// What projects keep about somebody.
extension AnalyticsScene {
    /// One and more of every kind of row, each with the user's id in its words.
    func furnish(_ user: String, _ client: Client) throws {
        let id = JSONValue.string(user)
        if try app.count("SELECT COUNT(*) FROM questionnaires WHERE project_id = ?", project) == 0 {
            try makeQuestionnaire()
        }
        let words: KeyValuePairs<String, JSONValue?> = [
            "user_id": id, "message": .string("feedback of \(user)"), "submitter_name": .string("name of \(user)"),
            "submitter_email": "somebody@example.com",
        ]
        let file: KeyValuePairs<String, JSONValue?> = [
            "user_id": id, "original_filename": .string("file-of-\(user).txt"),
        ]
        let answers = [
            client.send(ingest([event("event of \(user)", of: user)])),
            client.send(feedback(words)),
            client.send(respond(["words": .string("answer of \(user)")], ["user_id": id, "is_complete": true])),
            client.send(properties(id, ["plan": .string("plan of \(user)")])),
            client.send(claim(.string("owl_anon_of_\(user)"), id)),
            client.send(reservation(of: Array("hello".utf8), file)),
        ]
        for answer in answers { try #require((200..<300).contains(answer.status), "\(answer)") }
        try store(1, of: user, from: app.time.now)
        try insertOccurrence(of: try #require(try recordID(of: user)))
    }

    private func insertOccurrence(of record: Int64) throws {
        let (id, now) = (UUID(at: app.time.now), app.time.now)
        try app.change(
            """
            INSERT INTO issues (id, app_id, project_id, status, title, is_dev, created_at, updated_at)
            VALUES (?, ?, ?, 'open', 'It broke', FALSE, ?, ?)
            """, id, appID, project, now, now)
        try app.change(
            """
            INSERT INTO issue_occurrences (id, issue_id, session_id, app_user_id, timestamp, created_at)
            VALUES (?, ?, ?, ?, ?, ?)
            """, id, id, id, record, now, now)
    }
}
