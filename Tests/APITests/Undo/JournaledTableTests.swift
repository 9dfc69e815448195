import MariaDB
import TestSupport
import Testing

@testable import Accounts

/// The description of the tables whose rows a journal has.
@Suite struct JournaledTableTests {
    let app: TestApp

    init() throws { app = try TestApp() }

    /// A column that a migration adds has to be added there, too, or a swap that is taken back would lose it. Of some tables an
    /// undo needs the owner alone.
    @Test(arguments: JournaledTable.allCases) func everyColumnIsDescribed(table: JournaledTable) throws {
        if [.agentApprovalHistory, .applications].contains(table) { return }
        let owner = table.definition.owner.map { ["\($0)"] } ?? []
        let derived = table.definition.derived.map { "\($0)" }
        let described = Set(table.definition.columns.map { "\($0.name)" } + owner + derived)
        let columns = try app.sql { connection in
            try connection.all(
                """
                SELECT column_name FROM information_schema.columns
                WHERE table_schema = DATABASE() AND table_name = ? AND is_generated = 'NEVER'
                """, table.rawValue
            ) { row in try row.read(String.self) }
        }
        #expect(described == Set(columns))
        #expect("\(table.definition.name)" == table.rawValue)
    }

    /// The statements that are made of a description are understood.
    @Test(arguments: JournaledTable.allCases) func theStatementsAreUnderstood(table: JournaledTable) throws {
        let definition = table.definition
        try app.sql { connection in
            for image in JournaledTable.Image.allCases {
                for scan in definition.scans(image) {
                    var sql = ComposedSQL(joining: scan)
                    sql.append("", 1)
                    _ = try connection.all(sql) { row in
                        #expect(try row.read(String.self) == table.rawValue)
                        _ = (try row.read(Int64?.self), try row.read(String.self), try row.read(String.self))
                    }
                }
            }
            var present = ComposedSQL(joining: definition.present)
            present.append("", "[]")
            _ = try connection.all(present) { row in
                _ = (try row.read(String.self), try row.read(Int64?.self), try row.read(String.self))
            }
            // Of these, only the owner changes.
            if [.agentApprovalHistory, .applications].contains(table) { return }
            var insertion = ComposedSQL(joining: definition.insertion)
            if definition.owner != nil { insertion.append("", 1) }
            insertion.append("", "[]")
            try connection.execute(insertion)
            guard let owner = definition.owner else { return }
            var assignment = ComposedSQL(joining: definition.assignment(to: owner))
            assignment.append("", "[]", 1)
            try connection.execute(assignment)
        }
    }

    /// Images say every byte of a row: deleted and inserted again, it is the same.
    @Test func aRowReturnsAsItWas() throws {
        let odd = "a\u{0}\u{1F}\"\\/\u{7F}\u{2028}é🦆 "
        let claims = #"{ "b":1.50, "a":"\#u{41}", "a":[ ] }"#
        try app.change(
            """
            INSERT INTO users (name, nickname, contact_email, custom_claims, created_at, phone_number)
            VALUES (?, '', NULL, ?, '2026-01-02 03:04:05.678', ' ')
            """, odd, claims)
        func rows() throws -> [String] {
            try app.sql { connection in
                try connection.query("SELECT * FROM users ORDER BY id").map { "\($0)" }
            }
        }
        let before = try rows()
        let definition = JournaledTable.users.definition
        try app.sql { connection in
            let id = try connection.first("SELECT MAX(id) FROM users") { row in try row.read(Int64.self) } ?? 0
            var scan = ComposedSQL(joining: try #require(definition.scans(.whole).first))
            scan.append("", id)
            let images = try connection.all(scan) { row in
                _ = (try row.read(String.self), try row.read(Int64?.self), try row.read(String.self))
                return try row.read(String.self)
            }
            #expect(images.count == 1)
            try connection.execute("DELETE FROM users WHERE id = ?", id)
            var insertion = ComposedSQL(joining: definition.insertion)
            insertion.append("", "[\(images.joined(separator: ","))]")
            try connection.execute(insertion)
        }
        #expect(try rows() == before)
    }
}
