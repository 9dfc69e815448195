import JSON
import MariaDB
import TestSupport
import Testing

/// How many statements an ingest takes and how many rows it reads, by the server's own counters. The test has a server
/// of its own, so nobody else changes them.
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
        // The second reading of the counter is a statement, too.
        let cost = try questions() - before - 1
        #expect(answer["accepted"] == .integer(Int64(count)), "\(answer)")
        return cost
    }

    // MARK: Many rows under one client id

    private func rowsRead() throws -> Int {
        try watcher.query("SHOW GLOBAL STATUS LIKE 'Handler_read%'").reduce(0) {
            $0 + (Int(String(decoding: $1[1] ?? [], as: UTF8.self)) ?? 0)
        }
    }

    private func rowsRead(by request: RepeatableRequest, _ check: (Answer) -> Void) throws -> Int {
        let idle = try rowsRead()
        let before = try rowsRead()
        let answer = client.send(request)
        let after = try rowsRead()
        check(answer)
        return after - before - (before - idle)
    }

    /// Stores each of the client ids 1 to 100 this many times, a minute apart.
    ///
    /// - Parameter hours: how long ago the latest event is.
    private func store(_ count: Int, hours: Int) throws {
        try app.change("DELETE FROM events")
        try app.change(
            """
            SET STATEMENT max_statement_time = 0 FOR
            INSERT INTO events (id, app_id, client_event_id, session_id, level, message, is_dev, timestamp, received_at)
            SELECT RANDOM_BYTES(16), ?, UNHEX(CONCAT('3f2504e04f8911d39a0c', LPAD(HEX(i.seq), 12, '0'))), RANDOM_BYTES(16), 'info',
                   'stored', FALSE, ? - INTERVAL ? HOUR - INTERVAL n.seq MINUTE, ?
            FROM seq_1_to_100 i JOIN seq_1_to_1000 n WHERE n.seq <= ?
            """, scene.appID, app.time.now, hours, app.time.now, count)
        try app.change("ANALYZE TABLE events")
    }

    /// An id costs the same however many events it has: with and without a timestamp, within 48 hours and before.
    @Test(arguments: [1, 60]) func anUndatedEventLooksAtOneOfEachTime(hours: Int) throws {
        func costs(_ events: [JSONValue]) throws -> [Int] {
            try [5, 500].map { count in
                try store(count, hours: hours)
                return try rowsRead(by: scene.ingest(events)) { answer in
                    #expect(answer.status == 200)
                    let isDuplicate = hours < 48
                    #expect((answer["accepted"] == 0) == isDuplicate, "\(answer)")
                }
            }
        }
        let distinct = try costs((1...100).map { scene.event(id: $0) })
        #expect(distinct[1] <= distinct[0] + 10, "\(distinct)")
        // One id that occurs a hundred times is looked up once.
        let same = try costs((1...100).map { _ in scene.event(id: 7) })
        #expect(same[1] <= same[0] + 10, "\(same)")
        #expect(same[0] < distinct[0] / 5)
    }

    /// The batch's span ends before, among or after the rows of its ids.
    @Test(arguments: [
        ("2026-05-12T06:30:00Z", 100), ("2026-05-12T05:56:30Z", 100), ("2026-05-01T00:00:00Z", 0),
    ])
    func anImportLooksAtOneOfEachID(last: String, updated: Int64) throws {
        let events = (1...100).map { scene.event(id: $0, at: $0 == 1 ? "2026-04-20T00:00:00Z" : last) }
        let costs = try [5, 500].map { count in
            try store(count, hours: 1)
            return try rowsRead(by: scene.importing(events)) { #expect($0["updated"] == .integer(updated), "\($0)") }
        }
        #expect(costs[1] <= costs[0] + 10, "\(costs)")
    }

    @Test func aReservationLooksAtOne() throws {
        let costs = try [5, 500].map { count in
            try store(count, hours: 1)
            let reservation = scene.reservation(of: [1], ["client_event_id": .string(uuid(7)), "user_id": nil])
            return try rowsRead(by: reservation) { #expect($0.status == 201) }
        }
        #expect(costs[1] <= costs[0] + 10, "\(costs)")
    }

    /// Attachments that are linked to an event are not read.
    @Test func anEventLooksAtAttachmentsWithoutOne() throws {
        let costs = try [5, 500].map { count in
            try app.change("DELETE FROM event_attachments")
            try app.change(
                """
                INSERT INTO event_attachments (id, project_id, app_id, event_client_id, event_id, original_filename,
                                               content_type, size_bytes, sha256, is_dev, created_at)
                SELECT RANDOM_BYTES(16), ?, ?, UNHEX(REPLACE(?, '-', '')), RANDOM_BYTES(16), 'f', 't', 1,
                       SHA2(seq, 256), 0, ?
                FROM seq_1_to_1000 WHERE seq <= ?
                """, scene.project, scene.appID, uuid(7), app.time.now, count)
            try app.change("ANALYZE TABLE event_attachments")
            let day = count == 5 ? "2026-05-10" : "2026-05-11"
            let events = (0..<100).map { scene.event(id: 7, at: "\(day)T06:0\($0 / 50):\(10 + $0 % 50)Z") }
            return try rowsRead(by: scene.ingest(events)) { #expect($0["accepted"] == 100) }
        }
        #expect(costs[1] <= costs[0] + 20, "\(costs)")
    }

    // MARK: Statements

    private func events(_ count: Int, first: Int, _ message: (Int) -> String, of user: String?) -> [JSONValue] {
        (0..<count).map {
            scene.event(message($0), of: user, id: first + $0, at: "2026-05-11T06:00:00.\(100 + $0)Z")
        }
    }

    @Test func itDoesNotGrowWithTheEvents() throws {
        // Reads the key and notes its first use, and creates the user, who is seen with the same client within the minute.
        _ = client.send(scene.ingest([scene.event(of: "u"), scene.event(of: "owl_anon_u")]))
        var first = 0
        func costs(of user: String?, _ message: (Int) -> String) throws -> [Int] {
            try [1, 20, 100].map { count in
                first += count
                return try cost(
                    of: scene.ingest(events(count, first: first - count, message, of: user)), accepting: count)
            }
        }
        // BEGIN; the owner's lock, which confirms the key; several events; the attachments of many; the rest with COMMIT.
        #expect(try costs(of: "u") { _ in "hello" } == [3, 5, 5])
        // One more: the claims of an anonymous id are looked up.
        #expect(try costs(of: "owl_anon_u") { _ in "hello" } == [4, 6, 6])
        // Without an owner the key is confirmed by itself.
        #expect(try costs(of: nil) { _ in "hello" } == [3, 5, 5])
        // Metrics take one statement, and so do steps. Of events that are a day old, both tables are cleared of earlier copies.
        #expect(try costs(of: "u") { ["metric:a:start", "step:b"][$0 % 2] } == [7, 9, 9])
        // The user and the app of the user are noted with COMMIT.
        app.time.advance(by: .seconds(60))
        _ = client.send(scene.ingest([]))
        #expect(try costs(of: "u") { _ in "hello" } == [3, 5, 5])
    }

    @Test func duplicatesTakeOneMore() throws {
        let request = scene.ingest(events(100, first: 1, { _ in "hello" }, of: "u"))
        _ = client.send(request)
        // BEGIN, the owner's lock, events, which of them are stored, COMMIT.
        #expect(try cost(of: request, accepting: 0) == 5)
    }

    @Test func manyUsersTakeNoMoreThanAFew() throws {
        func request(_ first: Int) -> RepeatableRequest {
            scene.ingest((0..<100).map { scene.event("hello", of: "user \($0)", id: first + $0, at: "2026-05-11") })
        }
        _ = client.send(request(0))
        // As for one event, one statement before the lock, and one that confirms the key.
        #expect(try cost(of: request(100), accepting: 100) == 8)
    }

    @Test func otherRequestsTakeFew() throws {
        _ = client.send(scene.claim("owl_anon_a", "u"))
        _ = client.send(scene.properties("u", ["a": "1"]))
        func cost(of request: RepeatableRequest) throws -> Int {
            let before = try questions()
            #expect(client.send(request).status == 200)
            return try questions() - before - 1
        }
        // One read, without a transaction.
        #expect(try cost(of: scene.claim("owl_anon_a", "u")) == 1)
        // BEGIN; the owner's lock; COMMIT, with the properties if they change.
        #expect(try cost(of: scene.properties("u", ["a": "1"])) == 3)
        #expect(try cost(of: scene.properties("u", ["a": "2"])) == 3)
    }
}
