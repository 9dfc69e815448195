import MariaDB
import TestSupport
import Testing
import Time

/// Every bindable and readable type through a real table and back.
struct ValueTests {
    private let database: TestDatabase
    private let db: Connection

    init() throws {
        database = try TestDatabase(
            """
            CREATE TABLE cells (
                id INT PRIMARY KEY AUTO_INCREMENT, tiny TINYINT, medium MEDIUMINT UNSIGNED, whole BIGINT,
                natural_number BIGINT UNSIGNED, real_number DOUBLE, truth BOOLEAN, characters LONGTEXT, binaries LONGBLOB,
                fixed BINARY(32), tag BINARY(16), sub VARBINARY(255), at DATETIME(3), stamp TIMESTAMP(3) NULL, day DATE, json JSON,
                choice ENUM ('user', 'admin'), amount DECIMAL(20, 0), price DECIMAL(10, 2), year YEAR
            ) COLLATE utf8mb4_bin
            """)
        db = try database.connect()
    }

    @Test(arguments: [Int64.min, -1, 0, 1, Int64.max])
    func signed(_ value: Int64) throws {
        try db.execute("INSERT INTO cells (whole) VALUES (?)", value)
        #expect(try db.first("SELECT whole FROM cells") { try $0.read(Int64.self) } == value)
        #expect(try db.first("SELECT whole FROM cells") { try $0.read(Int.self) } == Int(value))
        #expect(try db.first("SELECT ?", value) { try $0.read(Int64.self) } == value)
    }

    @Test(arguments: [0, 1, UInt64(Int64.max), UInt64(Int64.max) + 1, UInt64.max])
    func unsigned(_ value: UInt64) throws {
        try db.execute("INSERT INTO cells (natural_number) VALUES (?)", value)
        #expect(try db.first("SELECT natural_number FROM cells") { try $0.read(UInt64.self) } == value)
        #expect(try db.first("SELECT ?", value) { try $0.read(UInt64.self) } == value)
    }

    /// The most significant byte first, in the order of its digits. The bytes need not be valid text.
    private struct Tag: Bindable, Readable, Equatable {
        let high: UInt64
        let low: UInt64

        var parameter: Parameter { .uuid(high: high, low: low) }

        init(_ high: UInt64, _ low: UInt64) { (self.high, self.low) = (high, low) }
        init(_ column: borrowing Column) throws(MariaDBError) { (high, low) = try column.uuid() }
    }

    @Test func uuids() throws {
        let tags = [
            Tag(0, 0), Tag(0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210), Tag(.max, .max), Tag(0x2000, 0x2020),
            Tag(0xE282_0000_0000_0000, 0),
        ]
        for tag in tags {
            try db.execute("INSERT INTO cells (tag, fixed) VALUES (?, ?)", tag, tag)
            #expect(try db.first("SELECT tag FROM cells WHERE tag = ?", tag) { try $0.read(Tag.self) } == tag)
        }
        try db.execute("DELETE FROM cells")
        try db.executeMany("INSERT INTO cells (tag) VALUES (?)", [[Tag?.none]] + tags.map { [$0] })
        let stored = try db.all("SELECT tag FROM cells ORDER BY id") { try $0.read(Tag?.self) }
        #expect(stored == [nil] + tags)
        #expect(
            try db.first("SELECT HEX(tag) FROM cells ORDER BY id LIMIT 2, 1") { try $0.read(String.self) }
                == "0123456789ABCDEFFEDCBA9876543210")
        for sql in ["SELECT NULL", "SELECT 7", "SELECT '0123456789abcde'", "SELECT REPEAT('a', 17)"] as [StaticString] {
            #expect(throws: MariaDBError.self) { try db.first(sql) { try $0.read(Tag.self) } }
        }
    }

    /// A time is not mistaken for the one before it.
    @Test func timesSideBySide() throws {
        let (one, other) = (Timestamp(seconds: 1_767_225_600), Timestamp(milliseconds: 1_767_225_600_250))
        for times in [[one, one, other, one], [other, other, one, other]] {
            let sql: StaticString =
                "SELECT CAST(? AS DATETIME(3)), CAST(? AS DATETIME(3)), CAST(? AS DATETIME(3)), CAST(? AS DATETIME(3))"
            let read = try db.first(sql, arguments: times) { row in
                try (0..<4).map { _ in try row.read(Timestamp.self) }
            }
            #expect(read == times)
        }
    }

    @Test func narrowIntegers() throws {
        try db.execute("INSERT INTO cells (tiny, medium, year) VALUES (?, ?, ?)", -128, 16_777_215, 2026)
        let row = try db.first("SELECT tiny, medium, year FROM cells") { row in
            (try row.read(Int.self), try row.read(Int.self), try row.read(UInt64.self))
        }
        #expect(try #require(row) == (-128, 16_777_215, 2026))
    }

    @Test func sumsAreDecimalsAndReadAsIntegers() throws {
        for value in [1, 2, 39] { try db.execute("INSERT INTO cells (whole) VALUES (?)", value) }
        #expect(try db.first("SELECT SUM(whole) FROM cells") { try $0.read(Int.self) } == 42)
        #expect(try db.first("SELECT SUM(whole) FROM cells") { try $0.read(UInt64.self) } == 42)
        #expect(try db.first("SELECT COUNT(*) FROM cells") { try $0.read(Int.self) } == 3)
    }

    @Test func decimals() throws {
        try db.execute("INSERT INTO cells (amount, price) VALUES (?, ?)", "99999999999999999999", "-12.50")
        #expect(try db.first("SELECT price FROM cells") { try $0.read(String.self) } == "-12.50")
        #expect(throws: MariaDBError.self) { try db.first("SELECT price FROM cells") { try $0.read(Int.self) } }
        #expect(throws: MariaDBError.self) { try db.first("SELECT amount FROM cells") { try $0.read(Int.self) } }
    }

    @Test(arguments: [0, -0.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, Double.pi])
    func doubles(_ value: Double) throws {
        try db.execute("INSERT INTO cells (real_number) VALUES (?)", value)
        #expect(try db.first("SELECT real_number FROM cells") { try $0.read(Double.self) } == value)
    }

    @Test(arguments: [true, false])
    func truth(_ value: Bool) throws {
        try db.execute("INSERT INTO cells (truth) VALUES (?)", value)
        #expect(try db.first("SELECT truth FROM cells") { try $0.read(Bool.self) } == value)
    }

    @Test(arguments: [
        "", "a", "O'Reilly; -- \"x\" \\ %", "nul\0within", "김지우 🦆👩‍👩‍👧", "e\u{301}",
        String(repeating: "x", count: 255), String(repeating: "é", count: 32_768),
        String(repeating: "🦆", count: 262_144),
    ])
    func text(_ value: String) throws {
        try db.execute("INSERT INTO cells (characters) VALUES (?)", value)
        let read = try #require(try db.first("SELECT characters FROM cells") { try $0.read(String.self) })
        #expect(Array(read.utf8) == Array(value.utf8))
        #expect(try db.first("SELECT characters FROM cells") { try $0.read([UInt8].self) } == Array(value.utf8))
        #expect(try db.first("SELECT COUNT(*) FROM cells WHERE characters = ?", value) { try $0.read(Int.self) } == 1)
    }

    @Test(arguments: [[], [0], [0xFF, 0xFE, 0, 0xC0, 0x80], [UInt8](repeating: 0, count: 65_536), [UInt8](0...255)])
    func bytes(_ value: [UInt8]) throws {
        try db.execute("INSERT INTO cells (binaries) VALUES (?)", value)
        #expect(try db.first("SELECT binaries FROM cells") { try $0.read([UInt8].self) } == value)
    }

    @Test func manyMegabytes() throws {
        let value = [UInt8](repeating: 0xA5, count: 8 << 20)
        try db.execute("INSERT INTO cells (binaries) VALUES (?)", value)
        #expect(try db.first("SELECT binaries FROM cells") { try $0.read([UInt8].self) } == value)
    }

    @Test func digestsKeepTheirLength() throws {
        let digest = [UInt8](repeating: 0, count: 31) + [0x20]
        try db.execute("INSERT INTO cells (fixed) VALUES (?)", digest)
        #expect(try db.first("SELECT fixed FROM cells WHERE fixed = ?", digest) { try $0.read([UInt8].self) } == digest)
    }

    @Test func binaryTextIsValidated() throws {
        try db.execute("INSERT INTO cells (sub) VALUES (?)", "subject|é")
        #expect(try db.first("SELECT sub FROM cells") { try $0.read(String.self) } == "subject|é")
        for invalid: [UInt8] in [[0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0x61, 0xFF]] {
            try db.execute("UPDATE cells SET sub = ?", invalid)
            #expect(throws: MariaDBError.self) { try db.first("SELECT sub FROM cells") { try $0.read(String.self) } }
        }
    }

    @Test(arguments: [
        Timestamp(CivilTime(year: 1, month: 1, day: 1)), Timestamp(CivilTime(year: 1000, month: 1, day: 1)),
        Timestamp(milliseconds: -1), Timestamp(milliseconds: 0), Timestamp(milliseconds: 1_767_225_600_999),
        Timestamp(CivilTime(year: 2024, month: 2, day: 29, hour: 12)),
        Timestamp(CivilTime(year: 9999, month: 12, day: 31, hour: 23, minute: 59, second: 59, millisecond: 999)),
    ])
    func times(_ value: Timestamp) throws {
        try db.execute("INSERT INTO cells (at) VALUES (?)", value)
        #expect(try db.first("SELECT at FROM cells") { try $0.read(Timestamp.self) } == value)
        #expect(try db.first("SELECT COUNT(*) FROM cells WHERE at = ?", value) { try $0.read(Int.self) } == 1)
    }

    @Test func timesAreUTC() throws {
        try db.execute("INSERT INTO cells (stamp, day) VALUES (FROM_UNIXTIME(1767225600.25), '2026-01-01')")
        let row = try db.first("SELECT stamp, day, CAST(stamp AS CHAR) FROM cells") { row in
            (try row.read(Timestamp.self), try row.read(Timestamp.self), try row.read(String.self))
        }
        #expect(
            try #require(row)
                == (
                    Timestamp(milliseconds: 1_767_225_600_250), Timestamp(seconds: 1_767_225_600),
                    "2026-01-01 00:00:00.250"
                ))
    }

    @Test(arguments: [Int64.min / 100, -62_135_596_800_001, 253_402_300_800_000])
    func timesOutsideTheCalendarAreRefused(_ milliseconds: Int64) throws {
        let error = #expect(throws: MariaDBError.self) {
            try db.execute("INSERT INTO cells (at) VALUES (?)", Timestamp(milliseconds: milliseconds))
        }
        #expect(error?.message == "argument 1 is a time outside the years 1…9999")
        let behindAnother = #expect(throws: MariaDBError.self) {
            try db.execute(
                "INSERT INTO cells (at) VALUES (?), (?)", Timestamp(seconds: 0), Timestamp(milliseconds: milliseconds))
        }
        #expect(behindAnother?.message == "argument 2 is a time outside the years 1…9999")
    }

    @Test func nulls() throws {
        try db.execute(
            "INSERT INTO cells (whole, natural_number, characters, binaries, at, truth) VALUES (?, ?, ?, ?, ?, ?)",
            Parameter.null, UInt64?.none, String?.none, [UInt8]?.none, Timestamp?.none, Bool?.none)
        let sql: StaticString = "SELECT whole, natural_number, characters, binaries, at, truth, NULL FROM cells"
        let isNull = try db.first(sql) { row in
            [
                try row.read(Int?.self) == nil, try row.read(UInt64?.self) == nil, try row.read(String?.self) == nil,
                try row.read([UInt8]?.self) == nil, try row.read(Timestamp?.self) == nil,
                try row.read(Bool?.self) == nil, try row.read(Int?.self) == nil,
            ]
        }
        #expect(isNull == Array(repeating: true, count: 7))
    }

    @Test func optionalsThatHoldSomething() throws {
        try db.execute("INSERT INTO cells (whole, characters) VALUES (?, ?)", Int?.some(7), String?.some("x"))
        let row = try db.first("SELECT whole, characters FROM cells") { row in
            (try row.read(Int?.self), try row.read(String?.self))
        }
        #expect(try #require(row) == (7, "x"))
    }

    /// The same statement first without data, then with long rows, then with short ones.
    @Test func oneStatementWithValuesOfAllLengths() throws {
        for length in [0, 3, 70_000, 1, 300, 0] {
            let value = String(repeating: "v", count: length)
            #expect(try db.first("SELECT ?", value) { try $0.read(String.self) } == value)
        }
    }

    /// `SELECT ?` has the type of its argument, which may differ between executions.
    @Test func oneStatementWithValuesOfAllTypes() throws {
        func read<T: Readable>(_ value: some Bindable & Equatable, as: T.Type = T.self) throws -> T? {
            try db.first("SELECT ?", value) { try $0.read(T?.self) } ?? nil
        }
        #expect(try read(5, as: Int.self) == 5)
        #expect(try read("five", as: String.self) == "five")
        #expect(try read(UInt64.max, as: UInt64.self) == .max)
        #expect(try read(0.5, as: Double.self) == 0.5)
        #expect(try read(Timestamp(seconds: 1), as: Timestamp.self) == Timestamp(seconds: 1))
        #expect(try read(String?.none, as: String.self) == nil)
        #expect(try read(5, as: Int.self) == 5)
    }

    @Test func oneColumnOfSeveralChangesItsType() throws {
        func read<First: Readable, Second: Readable>(
            _ first: any Bindable, _ second: any Bindable, as: (First, Second).Type
        ) throws -> String? {
            try db.first("SELECT ?, ?", first, second) { row in
                "\(try row.read(First.self)), \(try row.read(Second.self))"
            }
        }
        #expect(try read(5, "a", as: (Int, String).self) == "5, a")
        #expect(try read("b", "a", as: (String, String).self) == "b, a")
        #expect(try read("b", 0.5, as: (String, Double).self) == "b, 0.5")
        #expect(try read(Parameter.null, 0.5, as: (String?, Double).self) == "nil, 0.5")
        #expect(try read(6, 0.5, as: (Int, Double).self) == "6, 0.5")
        #expect(throws: MariaDBError.self) { try read(6, 0.5, as: (String, Double).self) }
    }

    @Test func severalRowsOfSeveralColumns() throws {
        for number in 1...100 {
            try db.execute("INSERT INTO cells (whole, characters) VALUES (?, ?)", number, "row \(number)")
        }
        let rows = try db.all("SELECT whole, characters FROM cells WHERE whole > ? ORDER BY whole", 10) { row in
            "\(try row.read(Int.self)) \(try row.read(String.self))"
        }
        #expect(rows == (11...100).map { "\($0) row \($0)" })
        #expect(try db.all("SELECT whole FROM cells WHERE whole > ?", 100) { try $0.read(Int.self) }.isEmpty)
        #expect(try db.first("SELECT whole FROM cells WHERE whole > ?", 100) { try $0.read(Int.self) } == nil)
    }

    @Test func rawValues() throws {
        struct ID: RawRepresentable, Bindable, Readable, Equatable { let rawValue: Int }
        enum Role: String, Bindable, Readable { case user, admin }
        try db.execute("INSERT INTO cells (whole, choice) VALUES (?, ?)", ID(rawValue: 9), Role.admin)
        let row = try db.first("SELECT whole, choice FROM cells") { row in
            (try row.read(ID.self), try row.read(Role?.self))
        }
        #expect(try #require(row) == (ID(rawValue: 9), .admin))

        enum Newer: String, Readable { case owner }
        let error = #expect(throws: MariaDBError.self) {
            try db.first("SELECT choice FROM cells") { try $0.read(Newer.self) }
        }
        #expect(error?.message == "column 1 (choice) has a value that is not a Newer")
    }

    @Test func jsonIsText() throws {
        try db.execute("INSERT INTO cells (json) VALUES (?)", #"{"name":"김"}"#)
        #expect(try db.first("SELECT json FROM cells") { try $0.read(String.self) } == #"{"name":"김"}"#)
        #expect(
            try db.first("SELECT JSON_VALUE(json, '$.name') FROM cells") { try $0.read(String.self) } == "김")
    }

    @Test func outcomes() throws {
        let first = try db.execute("INSERT INTO cells (id, whole) VALUES (?, ?)", Parameter.null, 1)
        #expect(first.affectedRows == 1 && first.lastInsertID == 1)
        try db.execute("INSERT INTO cells (whole) VALUES (?), (?)", 2, 3)
        #expect(try db.execute("UPDATE cells SET whole = ? WHERE whole > ?", 3, 1).affectedRows == 1)
        #expect(try db.execute("SELECT id FROM cells FOR UPDATE").affectedRows == 3)
        #expect(try db.execute("DELETE FROM cells").affectedRows == 3)
        #expect(try db.execute("INSERT IGNORE INTO cells (id) VALUES (?), (?)", 7, 7).warningCount == 1)
    }

    @Test func returning() throws {
        let id = try db.first(
            "INSERT INTO cells (whole) VALUES (?) ON DUPLICATE KEY UPDATE id = LAST_INSERT_ID(id) RETURNING id, whole",
            5
        ) { row in
            (try row.read(Int.self), try row.read(Int.self))
        }
        #expect(try #require(id) == (1, 5))
    }
}
