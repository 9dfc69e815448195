import HTTP
import JSON
import MariaDB
import TestSupport
import Testing
import Time

/// What agents and their users cost the database, by its own counters, on a server of the test's own. Nothing grows with what
/// there is besides.
@Suite struct ApprovalCostTests {
    let app: TestApp
    let client: Client
    let phone: Phone
    let agent: TestAgent
    private let server: MariaDBServer
    private let watcher: Connection

    init() throws {
        server = try MariaDBServer()
        app = try TestApp(database: try TestDatabase(on: server))
        client = app.client()
        phone = try client.bootstrap()
        agent = try client.agent(of: phone, in: app, signed: true)
        watcher = try app.database.connect()
    }

    private func status(_ name: String) throws -> Int {
        try watcher.query("SHOW GLOBAL STATUS WHERE Variable_name = '\(name)'").first.flatMap { row in
            row[1].flatMap { Int(String(decoding: $0, as: UTF8.self)) }
        } ?? 0
    }

    /// Statements, and transactions begun.
    private func cost(_ expected: Int, _ request: () throws -> Answer) throws -> (statements: Int, transactions: Int) {
        let before = (try status("Questions"), try status("Com_begin"))
        let answer = try request()
        let after = (try status("Questions"), try status("Com_begin"))
        #expect(answer.status == expected, "\(answer)")
        // Of the four readings two are between.
        return (after.0 - before.0 - 2, after.1 - before.1)
    }

    @Test func eachCallIsOneTransactionOfFewStatements() throws {
        // The token; BEGIN; the nonce; the agent's user, their lock, the agent's; the key, the limits, what waits, the last
        // rejection, what waits for the user; the history, the request, its lock, the key; COMMIT.
        let asked = try cost(201) { client.send(try agent.asking(idempotencyKey: "k")) }
        #expect(asked == (17, 1))
        // The token; BEGIN; the nonce; the agent's user, their lock, the agent's; the key; COMMIT.
        #expect(try cost(200) { client.send(try agent.asking(idempotencyKey: "k")) } == (8, 1))
        let id = try #require(client.send(try agent.asking(idempotencyKey: "k"))["auth_req_id"]?.string)
        // The token; BEGIN; the nonce; the request, its time; COMMIT.
        #expect(try cost(200) { client.send(try agent.poll(id)) } == (6, 1))
        // The PAK; the list.
        #expect(
            try cost(200) { client.send(.get, "/api/v1/me/agent_approvals", token: phone.token) } == (2, 0))
    }

    /// At a hundred and at ten thousand requests, of this agent and of others.
    @Test func nothingGrowsWithTheHistory() throws {
        let meter = try ReadMeter(app)
        let waiting = try client.ask(agent, ["ttl_seconds": 1800])
        let cursor = try #require(
            try app.column("SELECT public_id FROM agent_approvals WHERE public_id = ?", waiting.id).first)
        var requests: [(name: String, send: (Client) throws -> Answer)] = []
        let token = phone.token
        for status in [
            "", "status=pending", "status=approved", "status=rejected", "status=expired", "status=cancelled",
        ] {
            requests.append((status, { $0.send(.get, "/api/v1/me/agent_approvals?limit=5&\(status)", token: token) }))
            requests.append(
                (
                    "\(status) before",
                    { $0.send(.get, "/api/v1/me/agent_approvals?limit=5&before=\(cursor)&\(status)", token: token) }
                ))
        }
        requests.append(("show", { $0.send(.get, "/api/v1/me/agent_approvals/\(waiting.id)", token: token) }))
        requests.append(("agents", { $0.send(.get, "/api/v1/me/agents", token: token) }))
        requests.append(("poll", { [agent] in $0.send(try agent.poll(waiting.id)) }))
        requests.append(
            ("replay", { [agent] in $0.send(try agent.asking(["ttl_seconds": 1800], idempotencyKey: "k")) }))
        requests.append(
            ("ask", { [agent, app] in $0.send(try agent.asking(["title": .string("\(app.time.now.seconds)")])) }))

        func measure() throws -> [String: Int] {
            app.time.advance(by: .seconds(60))
            var reads: [String: Int] = [:]
            for (name, send) in requests {
                let (answer, cost) = try meter.measure { client in
                    do { return try send(client) } catch { return Answer(Response(.internalServerError)) }
                }
                #expect(answer.status < 300, "\(name): \(answer)")
                reads[name] = cost.rowsRead
            }
            return reads
        }
        try fill(100)
        _ = try measure()
        let few = try measure()
        // Besides, one more waits than the time before.
        try fill(10_000)
        let many = try measure()
        for (name, reads) in few {
            #expect(many[name].map { $0 <= reads + 4 } == true, "\(name): \(reads), then \(many[name] ?? 0)")
        }
    }

    /// Requests of the agent that have ended long ago, before and after the one that waits.
    private func fill(_ count: Int) throws {
        try app.change(
            """
            INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash, action_type,
                                         created_at, expires_at, decided_at)
            SELECT ?, (SELECT id FROM agents WHERE public_id = ?), CONCAT('aar_', LPAD(seq + ?, 16, '0')),
                   ELT(1 + seq % 4, 'approved', 'rejected', 'expired', 'cancelled'), SHA2(seq, 256), 'shell.exec',
                   ? - INTERVAL 1 DAY, ? - INTERVAL 1 DAY, ? - INTERVAL 1 DAY
            FROM seq_1_to_10000 WHERE seq <= ?
            """, phone.userID, agent.id, count, app.time.now, app.time.now, app.time.now, count)
    }
}
