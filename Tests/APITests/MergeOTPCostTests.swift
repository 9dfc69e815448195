import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// How many statements a one-time password takes, as the server counts them: the same for whoever is named, and for every
/// wrong code. On a server of the test's own, which nobody else asks.
@Suite struct MergeOTPCostTests {
    let scene: OAuthScene
    let requester: Phone
    let target: Phone
    private let server: MariaDBServer
    private let watcher: Connection

    init() throws {
        server = try MariaDBServer()
        scene = try OAuthScene(try TestApp(database: try TestDatabase(on: server)))
        requester = try scene.person("requester", email: "ada@example.com")
        target = try scene.person("target", email: "bea@example.com")
        watcher = try scene.app.database.connect()
    }

    private func questions() throws -> Int {
        let row = try watcher.query("SHOW GLOBAL STATUS LIKE 'Questions'").first
        return try #require(row?[1].flatMap { Int(String(decoding: $0, as: UTF8.self)) })
    }

    private func cost(_ path: String, _ body: JSONValue, status: Int) throws -> Int {
        let before = try questions()
        let answer = scene.client.send(.post, path, body, token: requester.token)
        // The second reading of the counter is a statement, too.
        let cost = try questions() - before - 1
        #expect(answer.status == status, "\(answer)")
        return cost
    }

    private var names: [KeyValuePairs<String, JSONValue?>] {
        [
            ["target_user_id": .integer(Int64(target.userID))], ["target_user_id": 1_000_000],
            ["target_email": "bea@example.com"], ["target_email": "unknown@example.com"],
        ]
    }

    @Test func askingCostsTheSameForWhoeverIsNamed() throws {
        // The PAK; BEGIN; user and PAK; the counters of requester, name and target; the target; the code; COMMIT.
        for name in names {
            #expect(try cost("/api/v1/me/merge/otp", JSONValue.object(JSONObject([])).adding(name), status: 202) == 11)
        }
    }
}
