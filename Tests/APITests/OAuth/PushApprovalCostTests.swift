import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// Beginning a sign-in on a phone costs the same whether somebody has the address or not (accounts §4.2). On a server of the
/// test's own, which nobody else asks.
@Suite struct PushApprovalCostTests {
    private let scene: OAuthScene
    private let rp: TestClient
    private let server: MariaDBServer
    private let watcher: Connection

    init() throws {
        server = try MariaDBServer()
        scene = try OAuthScene(try TestApp(database: try TestDatabase(on: server)))
        rp = try scene.register()
        let ada = try scene.person("ada", email: "ada@example.com")
        #expect(scene.registerForPush(ada).status == 204)
        watcher = try scene.app.database.connect()
    }

    private func questions() throws -> Int {
        let row = try watcher.query("SHOW GLOBAL STATUS LIKE 'Questions'").first
        return try #require(row?[1].flatMap { Int(String(decoding: $0, as: UTF8.self)) })
    }

    /// The request of a browser that was never limited.
    private func start(_ address: String) throws -> () -> Answer {
        scene.app.time.advance(by: .seconds(600))
        let browser = TestBrowser(scene.app)
        browser.open(scene.authorizePath(rp))
        let form = try browser.fields(of: "/oauth/push/start") + [("email", address)]
        return { browser.send(.post, "/oauth/push/start", form) }
    }

    @Test func asManyStatementsForEveryAddress() throws {
        let costs = try ["ada@example.com", "nobody@example.com", "x@device.internal", ""].map { address in
            let start = try start(address)
            let before = try questions()
            #expect(start().status == 303)
            // The second reading of the counter is a statement, too.
            return try questions() - before - 1
        }
        #expect(Set(costs).count == 1, "\(costs)")
    }

    /// The rank sums of the times of both kinds (Mann and Whitney): were the times of one kind, a difference as large as this
    /// would come about once in ten thousand runs.
    @Test func asMuchTimeForEveryAddress() throws {
        let rounds = 120
        var times: [(isKnown: Bool, time: Duration)] = []
        for round in 0..<(2 * rounds) {
            let isKnown = round % 2 == 0
            let start = try start(isKnown ? "ada@example.com" : "bob@example.com")
            let begin = ContinuousClock.now
            #expect(start().status == 303)
            times.append((isKnown, ContinuousClock.now - begin))
        }
        let sum = times.sorted { $0.time < $1.time }.enumerated().filter(\.element.isKnown)
            .reduce(0.0) { $0 + Double($1.offset + 1) }
        let (count, all) = (Double(rounds), Double(2 * rounds))
        let deviation = (count * count * (all + 1) / 12).squareRoot()
        #expect(abs(sum - count * (all + 1) / 2) < 3.9 * deviation)
    }
}
