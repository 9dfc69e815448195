import MariaDB
import Synchronization

/// A schema whose test has ended.
struct UsedSchema: Sendable {
    let name: String
    /// From when it was made.
    let definition: SchemaDefinition
}

/// Everything that statements of definition can change in a schema: its options, tables with their partitions and counters,
/// triggers and views.
struct SchemaDefinition: Sendable, Equatable {
    private let text: String

    /// - Parameter db: the schema is its default.
    init(_ db: Connection) throws {
        var text = try db.query("SHOW CREATE DATABASE \(db.text("SELECT DATABASE()")[0])").joinedText
        for table in try db.query("SHOW FULL TABLES") {
            let isView = table[1].map { $0.elementsEqual("VIEW".utf8) } ?? false
            text += try db.query("SHOW CREATE \(isView ? "VIEW" : "TABLE") `\(table[0].text)`").joinedText
        }
        // Without the time when it was made, which the second execution of the same script changes. By the schema of the tables:
        // asked by that of the triggers, MariaDB opens the tables of all schemas.
        text += try db.query(
            """
            SELECT trigger_name, event_object_table, action_timing, event_manipulation, action_order, action_statement
            FROM information_schema.triggers WHERE event_object_schema = DATABASE() ORDER BY trigger_name
            """
        ).joinedText
        text += try db.query("SELECT routine_name FROM information_schema.routines WHERE routine_schema = DATABASE()")
            .joinedText
        self.text = text
    }
}

/// Schemas with all tables whose tests have ended, to be given to other tests.
enum UsedSchemas {
    private static let waiting = Mutex<[UsedSchema]>([])

    static func add(_ schema: UsedSchema) { waiting.withLock { $0.append(schema) } }

    /// A schema that is like a new one: no row, counter or statistic is left, and each definition is what it was. One that a test
    /// changed otherwise is dropped.
    ///
    /// - Parameter seed: inserts the rows of a new schema.
    /// - Returns: nil if none waits that nobody is connected to.
    static func take(_ socket: String, seed: String) throws -> UsedSchema? {
        let db = try MariaDBServer.administrator(socket: socket)
        while let schema = try takeIdle(db) {
            if try schema.isReset(db, seed: seed) { return schema }
            try schema.drop(db)
        }
        return nil
    }

    /// The one that has waited longest. Connections of its test may end a moment after the test.
    private static func takeIdle(_ db: Connection) throws -> UsedSchema? {
        let names = waiting.withLock { $0.map(\.name) }
        if names.isEmpty { return nil }
        let busy = Set(try db.text("SELECT DISTINCT db FROM information_schema.processlist WHERE db IS NOT NULL"))
        let idle = Set(names).subtracting(busy)
        return waiting.withLock { waiting in
            waiting.firstIndex { idle.contains($0.name) }.map { waiting.remove(at: $0) }
        }
    }
}

extension UsedSchema {
    /// Drops its tables, and the database if MariaDB can. Otherwise the database stays, and goes with the server's folder: its name
    /// is not used again.
    fileprivate func drop(_ db: Connection) throws {
        do {
            try db.executeScript("DROP DATABASE IF EXISTS \(name)")
        } catch {
            // "Directory not empty": all tables are gone, but MariaDB has yet to remove a file of one that a test changed. It
            // may take longer than any test if other tests keep it busy.
            guard error.code == 1010 else { throw error }
        }
    }

    /// Empties it.
    ///
    /// - Returns: whether it is like a new one.
    fileprivate func isReset(_ db: Connection, seed: String) throws -> Bool {
        // Neither TRUNCATE nor DROP removes privileges; statistics that ANALYZE … PERSISTENT made go with the table only.
        let traces = try db.query(
            """
            SELECT 1 FROM mysql.table_stats WHERE db_name = '\(name)' UNION ALL
            SELECT 1 FROM mysql.db WHERE db = '\(name)' UNION ALL
            SELECT 1 FROM mysql.tables_priv WHERE db = '\(name)' LIMIT 1
            """)
        guard traces.isEmpty else { return false }
        try db.executeScript("USE \(name); SET FOREIGN_KEY_CHECKS = 0")
        let filled = try db.text("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'")
            .map { "(SELECT '\($0)' FROM `\($0)` LIMIT 1)" }
        let counted =
            "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() AND auto_increment > 1"
        let touched = Set(try db.text((filled + [counted]).joined(separator: " UNION ALL ")))
        // Makes the table anew, with its counter and without its triggers' objections.
        try db.executeScript(
            touched.sorted().map { "TRUNCATE `\($0)`; " }.joined() + seed + "SET FOREIGN_KEY_CHECKS = 1")
        return try SchemaDefinition(db) == definition
    }
}

extension Connection {
    /// The first column.
    fileprivate func text(_ sql: String) throws -> [String] { try query(sql).map { $0[0].text } }
}

extension [[[UInt8]?]] {
    fileprivate var joinedText: String { map { $0.map(\.text).joined(separator: "\t") + "\n" }.joined() }
}

extension [UInt8]? {
    fileprivate var text: String { String(decoding: self ?? [], as: UTF8.self) }
}
