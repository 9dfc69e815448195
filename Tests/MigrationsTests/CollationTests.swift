import Foundation
import MariaDB
import TestSupport
import Testing

/// A collation may consider texts equal that a program considers different. So columns that decisions depend on have a
/// binary collation. `docs/operations.md` lists the others with the reasons.
@Suite struct CollationTests {
    @Test func everyColumnThatIsNotBinaryIsListed() throws {
        let database = try TestDatabase()
        let columns = try database.connect().all(
            """
            SELECT CONCAT(c.TABLE_NAME, '.', c.COLUMN_NAME)
            FROM information_schema.COLUMNS c JOIN information_schema.TABLES t USING (TABLE_SCHEMA, TABLE_NAME)
            WHERE c.TABLE_SCHEMA = ? AND t.TABLE_TYPE = 'BASE TABLE' AND c.COLLATION_NAME NOT LIKE '%\\_bin'
            """, database.name
        ) { row in try row.read(String.self) }
        #expect(Set(columns).symmetricDifference(try listed()) == [], "docs/operations.md, Collations")
    }

    /// A padded binary collation considers `'a '` equal to `'a'`. MariaDB has one for JSON, whose texts are never
    /// compared.
    @Test func binaryColumnsAreNotPadded() throws {
        let database = try TestDatabase()
        let padded = try database.connect().all(
            """
            SELECT CONCAT(c.TABLE_NAME, '.', c.COLUMN_NAME, ' ', c.DATA_TYPE)
            FROM information_schema.COLUMNS c JOIN information_schema.TABLES t USING (TABLE_SCHEMA, TABLE_NAME)
            WHERE c.TABLE_SCHEMA = ? AND t.TABLE_TYPE = 'BASE TABLE' AND c.COLLATION_NAME LIKE '%\\_bin'
              AND c.COLLATION_NAME NOT LIKE '%\\_nopad\\_bin'
              AND NOT EXISTS (SELECT 1 FROM information_schema.CHECK_CONSTRAINTS k
                              WHERE k.CONSTRAINT_SCHEMA = c.TABLE_SCHEMA AND k.TABLE_NAME = c.TABLE_NAME
                                AND k.CHECK_CLAUSE = CONCAT('json_valid(`', c.COLUMN_NAME, '`)'))
            """, database.name
        ) { row in try row.read(String.self) }
        #expect(padded == [])
    }

    /// The rows of the table: a table's name, then its columns.
    private func listed() throws -> Set<String> {
        let text = try String(contentsOfFile: Repository.root + "/docs/operations.md", encoding: .utf8)
        let section = try #require(text.firstMatch(of: /\n## Collations\n(.*?\n)##/.dotMatchesNewlines())).1
        let columns = section.matches(of: /\n\| `(\w+)` \| ((?:`\w+`(?:, )?)+) \| .+ \|/).flatMap { row in
            row.2.matches(of: /`(\w+)`/).map { "\(row.1).\($0.1)" }
        }
        try #require(columns.count > 20 && Set(columns).count == columns.count)
        return Set(columns)
    }
}
