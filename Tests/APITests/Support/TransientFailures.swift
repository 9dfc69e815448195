import Database
import MariaDB
import TestSupport
import Testing

/// Makes the n-th row that is written to a schema from now on fail, with an error that the server may report at any
/// time.
///
/// Every table has triggers for every operation, so future statements are covered. The triggers count in a table
/// outside transactions, so the count continues when a transaction is repeated.
struct TransientFailures {
    private let db: Connection

    init(_ app: TestApp) throws {
        db = try app.database.connect()
        let tables = try db.query("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'").compactMap { $0[0] }
            .map { String(decoding: $0, as: UTF8.self) }
        try db.executeScript(
            """
            CREATE TABLE transient_failures (first INT, last INT, written INT, code INT) ENGINE = MEMORY;
            INSERT INTO transient_failures VALUES (0, 0, 0, 0);
            CREATE PROCEDURE fail_transiently()
            BEGIN
                DECLARE code INT;
                UPDATE transient_failures SET written = written + 1;
                SELECT IF(written BETWEEN first AND last, transient_failures.code, 0) INTO code FROM transient_failures;
                IF code > 0 THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = code; END IF;
            END;
            """
                + tables.flatMap { table in
                    ["INSERT", "UPDATE", "DELETE"].map { operation in
                        """
                        CREATE TRIGGER transient_\(table)_\(operation) AFTER \(operation) ON \(table) FOR EACH ROW
                        CALL fail_transiently();
                        """
                    }
                }.joined())
    }

    /// - Parameter rows: numbers counted from one, over all attempts.
    func fail(_ rows: ClosedRange<Int>, with code: Int) throws {
        try db.execute(
            "UPDATE transient_failures SET first = ?, last = ?, written = 0, code = ?", rows.lowerBound,
            rows.upperBound, code)
    }

    func stop() throws { try fail(0...0, with: 0) }

    /// Sends new requests, each with a deadlock at another row, until there is no such row any more. Nobody sees the
    /// deadlock: the answer is 200, and the same when the request is repeated.
    ///
    /// - Parameter prepare: one that writes as many rows as the one before, and what must hold afterwards.
    func deadlockAtEachRow(
        of app: TestApp, _ prepare: () throws -> (RepeatableRequest, check: (Answer, Comment) throws -> Void)
    ) throws {
        var row = 0
        var retries = -1
        while app.statistics.retries.value > retries {
            retries = app.statistics.retries.value
            row += 1
            let (request, check) = try prepare()
            try fail(row...row, with: 1213)
            let answer = app.client().send(request)
            try stop()
            #expect(answer.status == 200, "row \(row)")
            try check(answer, "row \(row)")
            #expect(app.client().send(request).text == answer.text, "row \(row)")
        }
        #expect(row > 20)
        #expect(app.statistics.deadlocks.value == row - 1)
        #expect(app.statistics.exhaustions.value == 0)
    }
}
