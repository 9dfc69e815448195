import TestSupport
import Testing

@testable import MariaDB

struct MariaDBErrorTests {
    private let database: TestDatabase
    private let db: Connection

    init() throws {
        database = try TestDatabase(
            """
            CREATE TABLE t (
                id INT PRIMARY KEY AUTO_INCREMENT, email VARCHAR(20), n INT UNSIGNED, d DATETIME(3), json JSON,
                choice ENUM ('a', 'b'), latin VARCHAR(20) CHARACTER SET latin1, parent INT, UNIQUE KEY t_email (email),
                CONSTRAINT t_parent_fk FOREIGN KEY (parent) REFERENCES t (id), CONSTRAINT t_n_small CHECK (n < 1000)
            )
            """)
        db = try database.connect()
    }

    @Test func duplicateEntriesNameTheirIndex() throws {
        try db.execute("INSERT INTO t (id, email) VALUES (1, ?)", "it's 'secret'")
        let unique = try #require(throws: MariaDBError.self) {
            try db.execute("INSERT INTO t (email) VALUES (?)", "it's 'secret'")
        }
        #expect(unique.code == 1062 && unique.sqlState == "23000" && unique.duplicateKey == "t_email")
        #expect(
            unique.description
                == "1062 (23000): Duplicate entry '…' for key 't_email' [INSERT INTO t (email) VALUES (?)]")
        let primary = try #require(throws: MariaDBError.self) { try db.execute("INSERT INTO t (id) VALUES (1)") }
        #expect(primary.duplicateKey == "PRIMARY")
    }

    /// The server's messages about each of these statements contain a value.
    @Test(
        arguments: [
            ("INSERT INTO t (n) VALUES (?)", 1366), ("INSERT INTO t (d) VALUES (?)", 1292),
            ("INSERT INTO t (email) VALUES (CONCAT(?, REPEAT('x', 30)))", 1406),
            ("INSERT INTO t (choice) VALUES (?)", 1265), ("INSERT INTO t (json) VALUES (?)", 4025),
            ("INSERT INTO t (id, n) VALUES (1, CAST(? AS UNSIGNED))", 1292),
            ("SELECT EXTRACTVALUE('<a/>', ?)", 1105), ("SELECT 1 REGEXP CONCAT('(', ?)", 1139),
            ("SET time_zone = ?", 1298), ("SET sql_mode = ?", 1231),
            ("SELECT SUBSTRING(1, 1) FROM t PROCEDURE ANALYSE(?)", nil), ("SELECT UUID_TO_BIN(?)", nil),
            ("INSERT INTO t (latin) VALUES (CONCAT(?, _utf8mb4 x'F09FA686'))", 1366),
            ("SELECT CONVERT_TZ(NOW(), ?, ?) + GET_LOCK(REPEAT(?, 30), 0)", nil),
            ("SELECT (18446744073709551615 + LENGTH(?)) + CAST(18446744073709551615 AS UNSIGNED)", 1690),
        ] as [(StaticString, Int?)])
    func noValueIsTold(_ sql: StaticString, _ code: Int?) throws {
        let secret = "s3cr3t'`\"s3cr3t"
        let count = "\(sql)".split(separator: "?", omittingEmptySubsequences: false).count - 1
        let error = try #require(throws: MariaDBError.self) {
            try db.execute(sql, arguments: Array(repeating: secret, count: count))
        }
        #expect(!error.description.contains("s3cr3t"))
        if let code { #expect(error.code == code, "\(error)") }
    }

    @Test(
        arguments: [
            ("Duplicate entry 'a'b' for key 'users_email'", 1062, "Duplicate entry '…' for key 'users_email'"),
            ("Duplicate entry 'a' for key 'users.email'", 1062, "Duplicate entry '…' for key 'email'"),
            ("Duplicate entry 'a-very-long-o", 1062, "Duplicate entry"),
            (
                "Incorrect integer value: 'O'Reilly' for column `x`.`t`.`n` at row 1", 1366,
                "Incorrect integer value: '…' for column `x`.`t`.`n` at row 1"
            ),
            ("Something new about 'a value'", 4999, "Something new about '…'"),
            ("Something cut off in the middle of 'a val", 4999, "Something cut off in the middle of '…'"),
            ("Column 'name' cannot be null", 1048, "Column 'name' cannot be null"),
            ("Can't connect to local server through socket '/run/x' (2)", 2002, nil),
        ] as [(String, Int, String?)])
    func redaction(_ message: String, _ code: Int, _ expected: String?) {
        #expect(Redaction.message(message, code: code) == expected ?? message)
    }

    @Test func constraintsAreNamed() throws {
        let foreign = try #require(throws: MariaDBError.self) { try db.execute("INSERT INTO t (parent) VALUES (77)") }
        #expect(foreign.code == 1452 && foreign.message.contains("t_parent_fk"))
        let check = try #require(throws: MariaDBError.self) { try db.execute("INSERT INTO t (n) VALUES (?)", 1000) }
        #expect(check.code == 4025 && check.message.contains("t_n_small"))
    }

    @Test func syntaxErrorsShowTheirPlace() throws {
        let error = try #require(throws: MariaDBError.self) { try db.execute("SELEKT 1") }
        #expect(error.code == 1064 && error.message.contains("near 'SELEKT 1' at line 1") && error.sql == "SELEKT 1")
    }

    @Test func signalsOfTriggersAreErrors() throws {
        try db.executeScript(
            "CREATE TRIGGER no BEFORE DELETE ON t FOR EACH ROW SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 't: never'")
        try db.execute("INSERT INTO t (id) VALUES (1)")
        let error = try #require(throws: MariaDBError.self) { try db.execute("DELETE FROM t") }
        #expect(error.code == 1644 && error.sqlState == "45000" && error.message == "t: never")
    }

    @Test func scriptsSayWhatFailed() throws {
        let error = try #require(throws: MariaDBError.self) {
            try db.executeScript("INSERT INTO t (id) VALUES (1); INSERT INTO nowhere VALUES (1); DELETE FROM t")
        }
        #expect(error.code == 1146)
        #expect(try db.first("SELECT COUNT(*) FROM t") { try $0.read(Int.self) } == 1)
    }

    /// A locked row is met when the rows are read, after columns have been sent.
    @Test func scriptsSayWhatFailedAmongTheirRows() throws {
        try db.execute("INSERT INTO t (id) VALUES (1), (2)")
        try db.begin()
        try db.execute("UPDATE t SET n = 1 WHERE id = 2")
        let other = try database.connect()
        let error = try #require(throws: MariaDBError.self) {
            try other.executeScript("SELECT 1; SELECT email FROM t FOR UPDATE NOWAIT; DROP TABLE t")
        }
        #expect(error.code == 1205)
        try db.rollback()
        #expect(try db.first("SELECT COUNT(*) FROM t") { try $0.read(Int.self) } == 2)
    }

    /// Prepared statements and `query` run only one statement, even if the text has another.
    @Test func oneStatementAtATime() throws {
        #expect(throws: MariaDBError.self) { try db.execute("SELECT 1; SELECT 2") }
        try db.executeScript("SELECT 1; SELECT 2")
        #expect(throws: MariaDBError.self) { try db.query("SELECT 1; SELECT 2") }
    }

    @Test func classes() {
        func error(_ code: Int) -> MariaDBError { MariaDBError(code: code, sqlState: "", serverMessage: "", sql: "") }
        for code in [2002, 2003, 2006, 2013, 1927, 1053] {
            #expect(error(code).isConnectionLost && !error(code).isTransient && error(code).endsTransaction)
        }
        for code in [1213, 1205, 1020, 1047, 1180] {
            #expect(error(code).isRefusedCommit == (code != 1180))
            #expect(!error(code).isConnectionLost && error(code).isTransient && error(code).endsTransaction)
        }
        for code in [1062, 1064, 1969, 0] { #expect(!error(code).isConnectionLost && !error(code).isTransient) }
    }
}
