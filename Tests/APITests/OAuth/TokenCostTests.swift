import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// How many statements a request takes, by the server's own counters. The test has a server of its own, so nobody else
/// changes them.
@Suite struct TokenCostTests {
    let scene: OAuthScene
    let rp: TestClient
    let person: Phone
    private let server: MariaDBServer
    private let watcher: Connection

    init() throws {
        server = try MariaDBServer()
        scene = try OAuthScene(try TestApp(database: try TestDatabase(on: server)))
        rp = try scene.register(confidential: true)
        person = try scene.person()
        // The first use of a grant is noted.
        _ = try scene.signIn(rp, as: person)
        watcher = try scene.app.database.connect()
    }

    private func questions() throws -> Int {
        let row = try watcher.query("SHOW GLOBAL STATUS LIKE 'Questions'").first
        return try #require(row?[1].flatMap { Int(String(decoding: $0, as: UTF8.self)) })
    }

    private func cost(_ request: () throws -> Answer) throws -> Int {
        let before = try questions()
        let answer = try request()
        // The second reading of the counter is a statement, too.
        let cost = try questions() - before - 1
        #expect(answer.status == 200 || answer.error == "authorization_pending", "\(answer)")
        return cost
    }

    @Test func readsAreOneStatementEach() throws {
        let tokens = try scene.signIn(rp, as: person)
        #expect(try cost { scene.userInfo(tokens.access) } == 1)
        #expect(try cost { scene.introspect(tokens.access, by: rp) } == 1)
        // The client's authentication, then the token with the person.
        #expect(try cost { scene.introspect(tokens.refresh, by: rp) } == 2)
        #expect(try cost { scene.sub("\(person.userID)", at: rp) } == 2)
    }

    @Test func tokensTakeAsFewAsTheyCan() throws {
        let code = try scene.code(rp, as: person)
        // The client; BEGIN; the code's grant, its lock, the code's; family, token, the code's use, the person; COMMIT.
        #expect(try cost { scene.exchange(code, by: rp) } == 10)
        let tokens = try scene.signIn(rp, as: person)
        // BEGIN; the token's family; the client with the person; COMMIT with token and family.
        #expect(try cost { scene.refresh(tokens.refresh, by: rp) } == 4)
        // BEGIN; the token's family; the client; the grant's application; COMMIT.
        #expect(try cost { scene.refresh(tokens.refresh, by: rp) } == 5)
        let key = String(repeating: "k", count: 22)
        let keyed = try scene.signIn(rp, as: person)
        // A key costs nothing where it is kept; where it is asked for, whether the person's grant still lives.
        #expect(try cost { scene.refresh(keyed.refresh, by: rp, key: key) } == 4)
        #expect(try cost { scene.refresh(keyed.refresh, by: rp, key: key) } == 6)
        // The client; BEGIN; the token; COMMIT.
        #expect(try cost { scene.revoke(tokens.access, by: rp) } == 4)
        // The client; BEGIN; the token's family, its end; COMMIT.
        #expect(try cost { scene.revoke(tokens.refresh, by: rp) } == 5)
    }

    @Test func devicesTakeAFew() throws {
        // The client; BEGIN; the codes; COMMIT.
        #expect(try cost { scene.authorizeDevice(rp) } == 4)
        let device = try scene.device(rp)
        // The client; BEGIN; whose code, its lock, the poll; COMMIT.
        #expect(try cost { scene.poll(device, by: rp) } == 6)
        // The PAK; BEGIN; user and PAK, tries, request, application, grants, the decision; COMMIT.
        #expect(try cost { scene.decide("approve", device, as: person) } == 9)
        // The client; BEGIN; whose code, grant, code; family, token, the code's use, the person; COMMIT.
        #expect(try cost { scene.poll(device, by: rp) } == 10)
        let token = try scene.signIn(rp, as: person).access
        // The token; BEGIN; the token, the user, the token again, the calls, the device, a new one; the PAK and the history
        // with the device's anonymous ids; the log with COMMIT.
        #expect(
            try cost {
                scene.client.send(
                    .post, "/api/v1/me/device_keys/exchange", ["device_uuid": .string(uuid(1)), "platform": "ios"],
                    token: token)
            } == 10)
    }
}
