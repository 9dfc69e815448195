import API
import Database
import Foundation
import MariaDB
import TestSupport

/// A client that measures the server's work for a request: rows read, bytes sent, plans chosen.
final class ReadMeter {
    /// One line of EXPLAIN, as the server logged it for a statement that it ran.
    struct PlanLine: CustomStringConvertible {
        var table: String
        var type: String
        var key: String
        var keyLength: Int
        var extra: String

        var description: String { "\(table): \(type) \(key) \(keyLength) (\(extra))" }
    }

    struct Cost {
        /// Entries of indexes and rows of tables.
        var rowsRead: Int
        var bytesSent: Int
        var plan: [PlanLine]
    }

    let client: Client
    private let database: Database
    /// The server's log of plans, of all connections.
    private let log: FileHandle
    private let thread: Int

    init(_ app: TestApp) throws {
        let database = Database(app.database.options)
        client = Client(Responder(service: app.service, database: database))
        self.database = database
        thread = try database.read { $0.threadID }
        let path = try database.read { connection in
            try connection.execute("SET GLOBAL slow_query_log = ON")
            try connection.execute(
                "SET slow_query_log = ON, long_query_time = 0, log_slow_verbosity = 'explain', log_slow_filter = '', log_slow_rate_limit = 1"
            )
            let files = try connection.query("SELECT @@datadir, @@slow_query_log_file")
            return files[0].map { String(decoding: $0 ?? [], as: UTF8.self) }.joined()
        }
        log = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    }

    func measure(_ request: (Client) -> Answer) throws -> (answer: Answer, cost: Cost) {
        let start = try status()
        let idle = try status()
        try log.seekToEnd()
        let answer = request(client)
        let plan = plan(in: try log.readToEnd() ?? Data())
        let end = try status()
        // Measuring costs, too.
        func count(_ value: (Status) -> Int) -> Int { value(end) - 2 * value(idle) + value(start) }
        return (answer, Cost(rowsRead: count(\.rowsRead), bytesSent: count(\.bytesSent), plan: plan))
    }

    private typealias Status = (rowsRead: Int, bytesSent: Int)

    private func status() throws -> Status {
        try database.read { connection in
            var sum: Status = (0, 0)
            for row in try connection.query(
                "SHOW SESSION STATUS WHERE Variable_name LIKE 'Handler_read%' OR Variable_name = 'Bytes_sent'")
            {
                let text = row.map { String(decoding: $0 ?? [], as: UTF8.self) }
                let value = Int(text[1]) ?? 0
                if text[0] == "Bytes_sent" { sum.bytesSent = value } else { sum.rowsRead += value }
            }
            return sum
        }
    }

    /// After `# Thread_id: N`, of `# explain: id select_type table type possible_keys key key_len ref … Extra`.
    private func plan(in bytes: Data) -> [PlanLine] {
        var isOurs = false
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { line in
            if line.hasPrefix("# Thread_id: ") { isOurs = line.hasPrefix("# Thread_id: \(thread) ") }
            guard isOurs, line.hasPrefix("# explain: ") else { return nil }
            let cells = line.dropFirst("# explain: ".count).split(separator: "\t", omittingEmptySubsequences: false)
                .map(String.init)
            guard cells.count > 12, cells[0] != "id" else { return nil }
            return PlanLine(
                table: cells[2], type: cells[3], key: cells[5], keyLength: Int(cells[6]) ?? 0, extra: cells[12])
        }
    }
}
