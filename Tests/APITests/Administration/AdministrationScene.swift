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
