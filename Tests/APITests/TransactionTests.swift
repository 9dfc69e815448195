import Database
import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// What clients see of transactions that fail and are repeated (accounts §0.4).
@Suite struct TransactionTests {
    private let key = [(name: "idempotency-key", value: "0123456789abcdefghijkl")]
    private let device: JSONValue = ["device_uuid": .string(uuid(1)), "platform": "ios"]

    /// Makes a write of the bootstrap fail several times, with an error after which a repetition may succeed.
    private func fail(_ app: TestApp, with code: Int, times: Int) throws {
        try app.database.connect().executeScript(
            """
            CREATE TRIGGER transient BEFORE INSERT ON devices FOR EACH ROW
            BEGIN
                SET @attempts = COALESCE(@attempts, 0) + 1;
                IF @attempts <= \(times) THEN
                    SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = \(code), MESSAGE_TEXT = 'transient';
                END IF;
            END
            """)
    }

    @Test(arguments: [1213, 1205, 1020, 1047, 1180])
    func fiveFailuresAreRepeated(_ code: Int) throws {
        let app = try TestApp()
        try fail(app, with: code, times: 5)
        let answer = app.client().send(.post, "/api/v1/devices", device, headers: key)
        #expect(answer.status == 200)
        #expect(app.statistics.retries.value == 5 && app.statistics.exhaustions.value == 0)
        for count in try [
            app.count("SELECT COUNT(*) FROM users"), app.count("SELECT COUNT(*) FROM paks"),
            app.count("SELECT COUNT(*) FROM idempotency_records"),
        ] { #expect(count == 1) }
        #expect(try app.count("SELECT COUNT(*) FROM audit_log") == 3)
    }

    @Test func theSixthFailureIsTheLast() throws {
        let app = try TestApp()
        try fail(app, with: 1213, times: 6)
        let client = app.client()
        try app.expectUnchanged {
            let answer = client.send(.post, "/api/v1/devices", device, headers: key)
            #expect("\(answer)" == refusal(503, "temporarily_unavailable"))
            #expect(answer.header("Retry-After") == "1")
        }
        #expect(app.statistics.retries.value == 5 && app.statistics.exhaustions.value == 1)
        #expect(app.statistics.deadlocks.value == 6)
        let again = client.send(.post, "/api/v1/devices", device, headers: key)
        #expect(again.status == 200 && again.header("Idempotency-Replayed") == nil)
    }

    /// A full disk, no memory, a statement that took too long.
    @Test(arguments: [1021, 1037, 1041, 1114, 1206, 1969])
    func aShortageIsNotRepeatedHere(_ code: Int) throws {
        let app = try TestApp()
        try fail(app, with: code, times: 1)
        let client = app.client()
        try app.expectUnchanged {
            let answer = client.send(.post, "/api/v1/devices", device, headers: key)
            #expect("\(answer)" == refusal(503, "temporarily_unavailable"))
            #expect(answer.header("Retry-After") == "1")
        }
        #expect(app.statistics.retries.value == 0)
        #expect(client.send(.post, "/api/v1/devices", device, headers: key).status == 200)
    }

    @Test func withoutADatabaseNobodyIsServed() throws {
        var options = try TestDatabase(migrated: false).options
        options.address = .unixSocket("/nonexistent/socket")
        let app = try TestApp(options: options)
        let answers = [
            app.client().send(.post, "/api/v1/devices", device, headers: key),
            app.client().send(.post, "/api/v1/devices", device),
            app.client().send(.get, "/api/v1/me", token: "lpk_live_x"),
        ]
        for answer in answers {
            #expect("\(answer)" == refusal(503, "temporarily_unavailable"))
            #expect(answer.header("Retry-After") == "1")
        }
    }

    // MARK: A COMMIT without an answer

    private func makeApp() throws -> (TestApp, DatabaseProxy) {
        let database = try TestDatabase()
        let proxy = try DatabaseProxy(to: MariaDBServer.sharedSocket)
        return (try TestApp(database: database, options: proxy.options(for: database.options)), proxy)
    }

    @Test func aCommitWhoseAnswerIsLostIsFoundByItsKey() throws {
        let (app, proxy) = try makeApp()
        let client = app.client()
        proxy.cut(.beforeAnswer)
        let first = client.send(.post, "/api/v1/devices", device, headers: key)
        #expect(proxy.cutsMade == 1)
        #expect(first.status == 200 && first.header("Idempotency-Replayed") == "true")
        let again = client.send(.post, "/api/v1/devices", device, headers: key)
        #expect(again.text == first.text)
        #expect(try app.count("SELECT COUNT(*) FROM users") == 1)
        #expect(app.statistics.unknownOutcomes.value == 1)
    }

    @Test func aCommitThatNeverArrivesChangesNothing() throws {
        let (app, proxy) = try makeApp()
        let client = app.client()
        proxy.cut(.beforeServer)
        try app.expectUnchanged {
            let answer = client.send(.post, "/api/v1/devices", device, headers: key)
            #expect("\(answer)" == refusal(503, "temporarily_unavailable"))
        }
        #expect(proxy.cutsMade == 1)
        let again = client.send(.post, "/api/v1/devices", device, headers: key)
        #expect(again.status == 200 && again.header("Idempotency-Replayed") == nil)
    }

    @Test func withoutAKeyTheWriteMayStand() throws {
        let (app, proxy) = try makeApp()
        proxy.cut(.beforeAnswer)
        let answer = app.client().send(.post, "/api/v1/devices", device)
        #expect("\(answer)" == refusal(503, "temporarily_unavailable"))
        #expect(try app.count("SELECT COUNT(*) FROM users") == 1)
    }
}
