import AnalyticsJobs
import MariaDB
import TestSupport
import Testing
import Time

/// The jobs cover all tables that they must.
@Suite struct JobsTests {
    /// If a table stores ids of records and has no case here, its rows would name removed tombstones.
    @Test func everyColumnWithARecordsIDIsRewritten() throws {
        let database = try TestDatabase()
        let tables = try database.connect().all(
            """
            SELECT DISTINCT c.TABLE_NAME
            FROM information_schema.COLUMNS c
            JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND t.TABLE_NAME = c.TABLE_NAME
            WHERE c.TABLE_SCHEMA = ? AND t.TABLE_TYPE = 'BASE TABLE' AND c.COLUMN_NAME IN ('app_user_id', 'merged_into')
            UNION
            SELECT k.TABLE_NAME
            FROM information_schema.KEY_COLUMN_USAGE k
            WHERE k.TABLE_SCHEMA = ? AND k.REFERENCED_TABLE_NAME = 'app_users'
            """, database.name, database.name
        ) { row in try row.read(String.self) }
        #expect(RecordReference.allCases.map(\.table).sorted() == tables.sorted())
    }

    @Test func monthsFollowEachOther() {
        let december = Month(containing: Timestamp(CivilTime(year: 2026, month: 12, day: 31, hour: 23, minute: 59)))
        #expect("\(december)" == "2026-12")
        #expect(december.start.iso8601 == "2026-12-01T00:00:00Z")
        #expect("\(december + 1)" == "2027-01")
        #expect(Month(containing: (december + 1).start) == december + 1)
        #expect(december.through(december + 2).map(\.description) == ["2026-12", "2027-01", "2027-02"])
        #expect(december.through(december + -1).isEmpty)
    }
}
