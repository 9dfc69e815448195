import HTTP
import JSON
import MariaDB
import TestSupport
import Testing

/// A request that is sent more than once.
struct RepeatableRequest: Sendable {
    var method: Method
    var path: String
    var body: JSONValue?
    var token: String?
    var headers: [(name: String, value: String)] = []
}

extension Client {
    func send(_ request: RepeatableRequest) -> Answer {
        send(request.method, request.path, request.body, token: request.token, headers: request.headers)
    }

    /// Sends a request again, as clients do, while the server is too busy for it (503).
    func sendUntilServed(_ request: RepeatableRequest) -> Answer {
        var answer = send(request)
        for _ in 0..<10 where answer.status == 503 { answer = send(request) }
        return answer
    }
}

/// Makes every row that a request writes fail, one after the other, and checks that nothing half-done remains.
///
/// To find these rows, the request runs once with a trigger on every table for every operation, which records that it
/// fired. So future statements are covered. Rows that a foreign key's cascade deletes or clears fire no triggers.
struct FailureInjection {
    /// A table and an operation on its rows: `users INSERT`.
    struct Write: Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
        let table: String
        let operation: String

        init(stringLiteral text: String) {
            let words = text.split(separator: " ").map(String.init)
            (table, operation) = (words[0], words[1])
        }

        var description: String { "\(table) \(operation)" }
    }

    let app: TestApp
    /// A path that the request's token can read, before and after.
    var witness = "/api/v1/me"
    /// Brings the database into the state before the request, and returns the request. Runs once for each failure.
    let prepare: (Client) throws -> RepeatableRequest

    /// - Parameters:
    ///   - expected: writes that the request is known to make, which prove that the triggers work.
    ///   - status: the status of the request if nothing fails.
    func run(
        expecting expected: Set<Write>, status: Int = 200, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let writes = try recordWrites(status, sourceLocation)
        #expect(expected.subtracting(writes.keys).isEmpty, "not written", sourceLocation: sourceLocation)
        for (write, count) in writes.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            for row in 1...count {
                try fail(write, row: row, status, "\(write), row \(row) of \(count)", sourceLocation)
            }
        }
    }

    /// A run in which nothing fails.
    private func recordWrites(_ status: Int, _ sourceLocation: SourceLocation) throws -> [Write: Int] {
        let request = try prepare(app.client())
        let db = try app.database.connect()
        let tables = try db.query("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'").map { columns in
            String(decoding: columns[0] ?? [], as: UTF8.self)
        }
        let points = tables.flatMap { table in
            ["INSERT", "UPDATE", "DELETE"].map { Write(stringLiteral: "\(table) \($0)") }
        }
        try db.executeScript(
            "CREATE TABLE recorded_writes (id INT AUTO_INCREMENT PRIMARY KEY, entry VARCHAR(100)) ENGINE = MEMORY;"
                + points.map { point in
                    """
                    CREATE TRIGGER record_\(point.table)_\(point.operation) BEFORE \(point.operation) ON \(point.table)
                    FOR EACH ROW INSERT INTO recorded_writes (entry) VALUES ('\(point)');
                    """
                }.joined())
        let answer = app.client().send(request)
        #expect(answer.status == status, "\(answer)", sourceLocation: sourceLocation)
        let entries = try db.all("SELECT entry FROM recorded_writes") { row in try row.read(String.self) }
        try db.executeScript(
            points.map { "DROP TRIGGER record_\($0.table)_\($0.operation);" }.joined() + "DROP TABLE recorded_writes")
        return Dictionary(entries.map { (Write(stringLiteral: $0), 1) }, uniquingKeysWith: +)
    }

    private func fail(
        _ write: Write, row: Int, _ status: Int, _ comment: Comment, _ sourceLocation: SourceLocation
    ) throws {
        let request = try prepare(app.client())
        let before = try app.database.dump()
        let db = try app.database.connect()
        // The variable is the failing session's own, so it starts unset.
        try db.executeScript(
            """
            CREATE TRIGGER injected_failure BEFORE \(write.operation) ON \(write.table) FOR EACH ROW
            BEGIN
                SET @injected_failure = COALESCE(@injected_failure, 0) + 1;
                IF @injected_failure = \(row) THEN
                    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'injected failure';
                END IF;
            END
            """)
        let refused = app.client().send(request)
        try db.executeScript("DROP TRIGGER injected_failure")
        #expect(refused.status == 500, comment, sourceLocation: sourceLocation)
        let isAnalytics = request.path.hasPrefix("/v1/")
        let requestID = JSONValue.string(refused.header("X-Request-Id") ?? "")
        let body: JSONValue =
            if isAnalytics {
                ["statusCode": 500, "error": "Internal Server Error", "message": "Internal Server Error"]
            } else if request.path.hasPrefix("/oauth/") {
                [
                    "error": "internal_error", "error_description": "Internal Server Error",
                    "error_uri": .string("\(TestApp.issuer)/oauth/errors#internal_error"), "request_id": requestID,
                ]
            } else {
                ["error": "internal_error", "request_id": requestID]
            }
        #expect(refused.json == body, comment, sourceLocation: sourceLocation)
        #expect(try app.database.dump() == before, comment, sourceLocation: sourceLocation)

        let client = app.client()
        if let token = request.token, !isAnalytics {
            let seen = client.send(.get, witness, token: token)
            #expect(seen.status == 200, comment, sourceLocation: sourceLocation)
        }
        let repeated = client.send(request)
        #expect(repeated.status == status, comment, sourceLocation: sourceLocation)
        #expect(repeated.header("Idempotency-Replayed") == nil, comment, sourceLocation: sourceLocation)
    }
}
