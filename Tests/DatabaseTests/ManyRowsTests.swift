import MariaDB
import TestSupport
import Testing
import Time

/// `executeMany`: many rows in one round trip.
struct ManyRowsTests {
    private let database: TestDatabase
    private let db: Connection

    init() throws {
        database = try TestDatabase(
            """
            CREATE TABLE cells (
                id INT PRIMARY KEY, whole BIGINT, natural_number BIGINT UNSIGNED, real_number DOUBLE, truth BOOLEAN,
                characters LONGTEXT COLLATE utf8mb4_bin, binaries LONGBLOB, at DATETIME(3), tag UUID UNIQUE
            )
            """)
        db = try database.connect()
    }

    private struct Cells: Equatable {
        var whole: Int64?
        var natural: UInt64?
        var real: Double?
        var truth: Bool?
        var text: String?
        var bytes: [UInt8]?
        var time: Timestamp?
        var tag: String?
    }

    private func insert(_ cells: [Cells]) throws -> Outcome {
        try db.executeMany(
            """
            INSERT INTO cells (id, whole, natural_number, real_number, truth, characters, binaries, at, tag)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            cells.enumerated().map { id, cells in
                [
                    id, cells.whole, cells.natural, cells.real, cells.truth, cells.text, cells.bytes, cells.time,
                    cells.tag,
                ]
            })
    }

    private func stored() throws -> [Cells] {
        try db.all(
            """
            SELECT whole, natural_number, real_number, truth, characters, binaries, at, tag FROM cells ORDER BY id
            """
        ) { row in
            Cells(
                whole: try row.read(), natural: try row.read(), real: try row.read(), truth: try row.read(),
                text: try row.read(), bytes: try row.read(), time: try row.read(), tag: try row.read())
        }
    }

    @Test func everyTypeAndNull() throws {
        let cells = [
            Cells(
                whole: .min, natural: .max, real: -0.5, truth: true, text: "", bytes: [], time: Timestamp(seconds: 0),
                tag: "00000000-0000-0000-0000-00000000000a"),
            Cells(),
            Cells(
                whole: .max, natural: 0, real: .pi, truth: false, text: "naïve 👩‍👩‍👧 \0 'quoted'", bytes: [0, 255, 39],
                time: Timestamp(milliseconds: 1_768_471_800_001), tag: "00000000-0000-0000-0000-00000000000b"),
            Cells(text: String(repeating: "long ", count: 20_000)),
        ]
        #expect(try insert(cells).affectedRows == 4)
        #expect(try stored() == cells)
    }

    @Test func columnsOfNothingButNull() throws {
        #expect(try insert([Cells(), Cells()]).affectedRows == 2)
        #expect(try stored() == [Cells(), Cells()])
    }

    @Test func nullsBeforeTheFirstValue() throws {
        let cells = [Cells(), Cells(whole: 1, time: Timestamp(seconds: 1)), Cells(), Cells(text: "a")]
        _ = try insert(cells)
        #expect(try stored() == cells)
    }

    @Test func oneRow() throws {
        #expect(try insert([Cells(whole: 7)]).affectedRows == 1)
        #expect(try stored() == [Cells(whole: 7)])
    }

    @Test func nothingIsSentWithoutRows() throws {
        let before = try status("Questions")
        #expect(try insert([]).affectedRows == 0)
        #expect(try status("Questions") - before == 1)
    }

    @Test func aThousandRowsAreOneStatement() throws {
        let before = try status("Questions")
        let outcome = try insert((1...1000).map { Cells(whole: $0, text: "a") })
        // Preparing is not counted; the query of the status itself is.
        #expect(try status("Questions") - before == 2)
        #expect(outcome.affectedRows == 1000)
        #expect(try db.first("SELECT SUM(whole) FROM cells") { try $0.read(Int.self) } == 500_500)
    }

    private func status(_ name: String) throws -> Int {
        let value = try db.query("SHOW SESSION STATUS LIKE '\(name)'").first?[1]
        return try #require(value.flatMap { Int(String(decoding: $0, as: UTF8.self)) })
    }

    @Test func affectedRowsTellTheInsertedFromTheDuplicates() throws {
        func insert(_ ids: [Int]) throws -> Int {
            try db.executeMany(
                "INSERT INTO cells (id) VALUES (?) ON DUPLICATE KEY UPDATE id = id", ids.map { [$0] }
            ).affectedRows
        }
        #expect(try insert([1, 2, 3]) == 3)
        #expect(try insert([3, 4, 4, 5, 1]) == 2)
        #expect(try insert([1, 2]) == 0)
    }

    @Test func updatesAndDeletes() throws {
        _ = try insert([Cells(), Cells(), Cells()])
        let updated = try db.executeMany("UPDATE cells SET whole = ? WHERE id = ?", [[5, 0], [6, 2], [7, 9]])
        #expect(updated.affectedRows == 2)
        #expect(try stored().map(\.whole) == [5, nil, 6])
        #expect(try db.executeMany("DELETE FROM cells WHERE id = ?", [[0], [1], [9]]).affectedRows == 2)
        #expect(try stored().map(\.whole) == [6])
    }

    @Test func rowsMayBeFilled() throws {
        let sql: StaticString = "INSERT INTO cells (id, characters) VALUES (?, ?)"
        try db.executeMany(
            ComposedSQL(sql), [1, 2],
            filling: { id, row in
                row.append(id)
                row.append(id == 1 ? nil : "b")
            })
        #expect(try stored().map(\.text) == [nil, "b"])
        for count in [0, 1, 3, 4] {
            let error = try #require(throws: MariaDBError.self) {
                try db.executeMany(ComposedSQL(sql), [3], filling: { id, row in for _ in 0..<count { row.append(id) } })
            }
            #expect(error.message == "2 arguments a row are needed, \(count) are given")
        }
        #expect(try stored().count == 2)
    }

    @Test func theSameStatementForOneRowAndForMany() throws {
        let sql: StaticString = "INSERT INTO cells (id, characters) VALUES (?, ?)"
        try db.executeMany(sql, [[1, "a"], [2, "b"]])
        try db.execute(sql, 3, "c")
        try db.executeMany(sql, [[4, Parameter.null]])
        try db.execute(sql, 5, Parameter.null)
        #expect(try stored().map(\.text) == ["a", "b", "c", nil, nil])
    }

    @Test func aChangedTableIsNoticed() throws {
        try db.executeScript("CREATE TABLE parts (id INT) PARTITION BY RANGE (id) (PARTITION a VALUES LESS THAN (10))")
        func insert(_ ids: ClosedRange<Int>) throws -> Int {
            try db.executeMany("INSERT INTO parts (id) VALUES (?)", ids.map { [$0] }).affectedRows
        }
        #expect(try insert(1...5) == 5)
        let other = try database.connect()
        try other.executeScript("ALTER TABLE parts ADD PARTITION (PARTITION b VALUES LESS THAN (20))")
        #expect(try insert(6...15) == 10)
        try other.executeScript("ALTER TABLE parts DROP PARTITION a")
        #expect(try insert(16...19) == 4)
        #expect(try db.first("SELECT SUM(id) FROM parts") { try $0.read(Int.self) } == (10...19).reduce(0, +))
    }

    @Test func anErrorInOneRowIsTheStatements() throws {
        try db.begin()
        let error = #expect(throws: MariaDBError.self) {
            try db.executeMany("INSERT INTO cells (id) VALUES (?)", [[1], [2], [1], [3]])
        }
        #expect(error?.code == 1062 && error?.duplicateKey == "PRIMARY")
        try db.rollback()
        #expect(try stored().isEmpty)
        let tooLong = #expect(throws: MariaDBError.self) {
            try db.executeMany("INSERT INTO cells (id, tag) VALUES (?, ?)", [[1, "no uuid"]])
        }
        #expect(tooLong?.code == 1292)
        #expect(try insert([Cells(whole: 1)]).affectedRows == 1)
    }

    @Test func argumentsThatCannotBeSent() throws {
        func problem(_ rows: [[any Bindable]]) throws -> String {
            let sql: StaticString = "INSERT INTO cells (id, characters) VALUES (?, ?)"
            let error = try #require(throws: MariaDBError.self) { try db.executeMany(sql, rows) }
            #expect(error.code == 0 && error.sql == "\(sql)")
            return error.message
        }
        #expect(try problem([[1, "a"], [2]]) == "2 arguments a row are needed, 1 are given")
        #expect(try problem([[1, "a"], [2, "b", 3]]) == "2 arguments a row are needed, 3 are given")
        #expect(
            try problem([[1, Parameter.null], [2, "a"], [3, 4]])
                == "argument 2 has another type in row 3 than in the rows before")
        #expect(
            try problem([[1, "a"], [UInt64(2), "a"]])
                == "argument 1 has another type in row 2 than in the rows before")
        #expect(
            try problem([[1, Timestamp(milliseconds: .max)]]) == "argument 2 is a time outside the years 1…9999")
    }
}
