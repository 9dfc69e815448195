import JSON
import MariaDB
import TestSupport
import Testing

/// How many statements an ingest takes, as the server counts them; on a server of the test's own, which nobody else asks.
@Suite struct IngestCostTests {
    let app: TestApp
    let scene: AnalyticsScene
    let client: Client
    private let server: MariaDBServer
    private let watcher: Connection

    init() throws {
        server = try MariaDBServer()
        app = try TestApp(database: try TestDatabase(on: server))
        scene = try AnalyticsScene(app)
        client = app.client()
        watcher = try app.database.connect()
    }

    private func questions() throws -> Int {
        let row = try watcher.query("SHOW GLOBAL STATUS LIKE 'Questions'").first
        return try #require(row?[1].flatMap { Int(String(decoding: $0, as: UTF8.self)) })
    }

    /// The statements of one request.
    private func cost(of request: RepeatableRequest, accepting count: Int) throws -> Int {
        let before = try questions()
        let answer = client.send(request)
        // The second question is a statement as well.
        let cost = try questions() - before - 1
        #expect(answer["accepted"] == .integer(Int64(count)), "\(answer)")
        return cost
    }

    private func events(_ count: Int, first: Int, _ message: (Int) -> String, of user: String?) -> [JSONValue] {
        (0..<count).map {
            scene.event(message($0), of: user, id: first + $0, at: "2026-05-11T06:00:00.\(100 + $0)Z")
        }
    }

    @Test func itDoesNotGrowWithTheEvents() throws {
        // The first use of a key is noted, and a user is made.
        _ = client.send(scene.ingest([scene.event(of: "u"), scene.event(of: "owl_anon_u")]))
        var first = 0
        func costs(of user: String?, _ message: (Int) -> String) throws -> [Int] {
            try [1, 20, 100].map { count in
                first += count
                return try cost(
                    of: scene.ingest(events(count, first: first - count, message, of: user)), accepting: count)
            }
        }
        // Authentication, BEGIN, the owner's lock, events, user, app of the user, counter, attachments, COMMIT.
        #expect(try costs(of: "u") { _ in "hello" } == [9, 9, 9])
        // An anonymous id's claims are looked up.
        #expect(try costs(of: "owl_anon_u") { _ in "hello" } == [10, 10, 10])
        #expect(try costs(of: nil) { _ in "hello" } == [5, 5, 5])
        // Metrics and steps are a statement each.
        #expect(try costs(of: "u") { ["metric:a:start", "step:b"][$0 % 2] } == [10, 11, 11])
    }

    @Test func duplicatesTakeOneMore() throws {
        let request = scene.ingest(events(100, first: 1, { _ in "hello" }, of: "u"))
        _ = client.send(request)
        // Authentication, BEGIN, the owner's lock, events, which of them are stored, COMMIT.
        #expect(try cost(of: request, accepting: 0) == 6)
    }

    @Test func manyUsersTakeNoMoreThanAFew() throws {
        func request(_ first: Int) -> RepeatableRequest {
            scene.ingest((0..<100).map { scene.event("hello", of: "user \($0)", id: first + $0, at: "2026-05-11") })
        }
        _ = client.send(request(0))
        // As for one, with a look before the lock.
        #expect(try cost(of: request(100), accepting: 100) == 10)
    }
}
