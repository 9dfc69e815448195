import HTTP
import JSON
import Testing

/// An administrator with a PAK and a browser, and others to look at.
final class AdministrationScene {
    let scene: OAuthScene
    let administrator: Phone

    init(_ app: TestApp) throws {
        scene = try OAuthScene(app)
        administrator = try scene.person("administrator", email: "admin@example.com")
        try app.change("UPDATE users SET role = 'admin' WHERE id = ?", administrator.userID)
    }

    convenience init() throws { try self.init(TestApp()) }

    var app: TestApp { scene.app }
    var client: Client { scene.client }

    /// GET below `/api/v1/admin`.
    func read(_ path: String) -> Answer {
        client.send(.get, "/api/v1/admin/\(path)", token: administrator.token)
    }

    /// Ids of users that a search finds, in the order of the answer.
    func find(_ query: String) throws -> [Int?] {
        let answer = read("users?" + String(decoding: encoded([("query", query)]), as: UTF8.self))
        return try #require(answer["users"]?.array, "\(answer)").map { $0["id"]?.integer }
    }

    /// All rows of a list, page by page.
    ///
    /// - Parameters:
    ///   - path: with a query.
    ///   - member: the list's.
    func pages(_ path: String, _ member: String) throws -> [JSONValue] {
        var rows: [JSONValue] = []
        var cursor: String?
        repeat {
            let answer = read(path + (cursor.map { "&before=\($0)" } ?? ""))
            rows += try #require(answer[member]?.array, "\(answer)")
            cursor = answer["next_cursor"]?.string
        } while cursor != nil
        return rows
    }
}

extension TestApp {
    /// Merges 3 to 8 and swaps s41 to s44, of four days, into the users 101 and 102. Merge 5 and swap s44 were undone, and the
    /// merges 3 and 7 have no journal.
    func makeMerges() throws {
        try change("INSERT INTO users (id) SELECT seq FROM seq_101_to_108 UNION SELECT 144")
        try change(
            """
            INSERT INTO identity_links (id, primary_user_id, linked_user_id, merged_via, idempotency_key, created_at) VALUES
            (3, 101, 103, 'session_token', 'st:3', '2026-05-01'), (4, 101, 104, 'session_token', 'st:4', '2026-05-02'),
            (6, 102, 106, 'session_token', 'st:6', '2026-05-03'), (7, 101, 107, 'session_token', 'st:7', '2026-05-04'),
            (8, 101, 108, 'session_token', 'st:8', '2026-05-04')
            """)
        try change(
            """
            INSERT INTO merge_journals (id, survivor_user_id, absorbed_user_id, identity_link_id, merged_via, created_at,
                                        expires_at, undone_at) VALUES
            (41, 101, 141, NULL, 'anonymous_swap', '2026-05-02', '2026-05-16', NULL),
            (42, 101, 142, NULL, 'anonymous_swap', '2026-05-03', '2026-05-17', NULL),
            (43, 101, 143, NULL, 'anonymous_swap', '2026-05-04', '2026-05-18', NULL),
            (44, 101, 144, NULL, 'anonymous_swap', '2026-05-04', '2026-05-18', '2026-05-05'),
            (60, 101, 104, 4, 'session_token', '2026-05-02', '2026-05-16', NULL),
            (50, 101, 106, 5, 'session_token', '2026-05-02', '2026-05-16', '2026-05-03'),
            (52, 102, 106, 6, 'session_token', '2026-05-03', '2026-05-17', NULL),
            (51, 101, 108, 8, 'session_token', '2026-05-04', '2026-05-18', NULL)
            """)
    }
}
