import JSON
import MariaDB
import Time

/// The key of a row of an event table, and whom the row names.
struct EventRow {
    let id: UUID
    let timestamp: Timestamp
    let record: AppUser.ID?

    init(from row: inout Row) throws(MariaDBError) {
        id = try row.read()
        timestamp = try row.read()
        record = try row.read()
    }

    /// The keys, as a parameter for as many rows as there are.
    static func list(_ rows: [EventRow]) -> String {
        String(decoding: rows.map { Key(id: $0.id.digits, timestamp: $0.timestamp.sql) }.json(), as: UTF8.self)
    }

    private struct Key: Encodable {
        let id: String
        let timestamp: String
    }
}

extension Timestamp {
    /// As MariaDB writes a `DATETIME(3)`.
    fileprivate var sql: String { String(iso8601Milliseconds.dropLast()).replacing("T", with: " ") }
}
