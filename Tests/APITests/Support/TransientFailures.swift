import MariaDB
import TestSupport

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
}
