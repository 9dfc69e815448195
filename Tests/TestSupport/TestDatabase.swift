import Foundation
package import MariaDB
import Migrations
import Synchronization

/// A schema of one test.
///
/// One with all tables on the server that tests share is emptied for a later test when the last reference is gone: making its
/// tables takes longer than most tests. Any other is dropped then.
package final class TestDatabase: Sendable {
    package let name: String
    package let options: Connection.Options

    private let socket: String
    /// Nil: nobody uses the schema again.
    private let definition: SchemaDefinition?

    /// With all tables that `sql/` creates if `migrated`, otherwise empty.
    package convenience init(migrated: Bool = true) throws {
        let socket = try MariaDBServer.sharedSocket
        guard migrated else {
            try self.init(socket: socket, script: "")
            return
        }
        let used = try UsedSchemas.take(socket, seed: try Self.template.get().rows)
        if let used {
            self.init(socket: socket, used)
        } else {
            try self.init(socket: socket, script: try Self.template.get().script, isKept: true)
        }
    }

    /// The same on a server that belongs to the test.
    package convenience init(on server: MariaDBServer, migrated: Bool = true) throws {
        try self.init(socket: server.socket, script: migrated ? try Self.template.get().script : "")
    }

    private init(socket: String, script: String, isKept: Bool = false) throws {
        self.socket = socket
        name = "test_\(getpid())_\(Self.count.add(1, ordering: .relaxed).newValue)"
        options = MariaDBServer.options(socket: socket, database: name)
        let db = try MariaDBServer.administrator(socket: socket)
        try db.executeScript(
            "DROP DATABASE IF EXISTS \(name); CREATE DATABASE \(name) COLLATE utf8mb4_unicode_ci; USE \(name)")
        if !script.isEmpty { try db.executeScript(script) }
        definition = isKept ? try SchemaDefinition(db) : nil
    }

    private init(socket: String, _ used: UsedSchema) {
        self.socket = socket
        name = used.name
        options = MariaDBServer.options(socket: socket, database: name)
        definition = used.definition
    }

    deinit {
        if let definition {
            UsedSchemas.add(UsedSchema(name: name, definition: definition))
        } else if let db = try? MariaDBServer.administrator(socket: socket) {
            try? db.executeScript("DROP DATABASE IF EXISTS \(name)")
        }
    }

    /// For what the test does itself: it waits longer than a server's connections.
    package func connect() throws -> Connection { try Connection(options.patient) }

    /// How to reach the schema through one of the cluster's nodes, in turn; always the same where there is no cluster.
    package func options(ofNode number: Int) -> Connection.Options {
        let nodes = isOnCluster ? [socket] + MariaDBServer.otherNodes : [socket]
        var options = options
        options.address = .unixSocket(nodes[number % nodes.count])
        return options
    }

    package var isOnCluster: Bool {
        guard let shared = try? MariaDBServer.sharedSocket else { return false }
        return shared == socket && !MariaDBServer.otherNodes.isEmpty
    }

    /// Waits until every node of a cluster has applied what was committed on any.
    package func settle() throws {
        guard isOnCluster else { return }
        for number in 0...MariaDBServer.otherNodes.count {
            var options = options(ofNode: number)
            // Another node's may not be there yet.
            options.database = nil
            let connection = try Connection(options)
            let deadline = ContinuousClock.now + .seconds(60)
            while true {
                do {
                    _ = try connection.query("SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1")
                    break
                } catch {
                    // A node that applies the tables of other tests, too, may be longer behind than a server waits.
                    guard error.code == 1205, ContinuousClock.now < deadline else { throw error }
                }
            }
        }
    }

    /// Whether a transaction waits for a lock.
    ///
    /// - Parameter connection: the connection to read with.
    package func hasLockWait(_ connection: Connection) throws -> Bool {
        try transactions(connection).contains { $0.contains("\nLOCK WAIT ") }
    }

    /// Waits until a transaction waits for a lock, for at least 30 s.
    ///
    /// - Parameters:
    ///   - connection: the connection to read with.
    ///   - ended: what the request has answered that should wait, if it has.
    /// - Throws: also when that request has ended.
    package func waitForALockWait(_ connection: Connection, unless ended: () -> String? = { nil }) throws {
        try wait(orThrow: "no transaction waits for a lock") {
            if let end = ended() { throw TestSupportError("no transaction waits for a lock; instead: \(end)") }
            return try hasLockWait(connection)
        }
    }

    /// Waits until so many statements wait for a table's definition, for at least 30 s.
    ///
    /// - Parameter connection: the connection to read with.
    package func waitForTableLocks(_ count: Int, _ connection: Connection) throws {
        let waiting =
            "SELECT id FROM information_schema.processlist WHERE db = '\(name)' AND state = 'Waiting for table metadata lock'"
        try wait(orThrow: "not \(count) statements wait for a table") { try connection.query(waiting).count >= count }
    }

    /// MariaDB reports to nobody who waits, so it is asked again and again.
    private func wait(orThrow problem: String, until isTrue: () throws -> Bool) throws {
        // Looks are counted, not seconds: a machine that was paused has not waited.
        for _ in 0..<6000 {
            if try isTrue() { return }
            usleep(5000)
        }
        throw TestSupportError(problem)
    }

    /// Whether a transaction is open, be it of somebody who is gone.
    ///
    /// - Parameter connection: the connection to read with.
    package func hasTransaction(_ connection: Connection) throws -> Bool {
        try transactions(connection).contains { $0.prefix { $0 != "\n" }.contains(", ACTIVE") }
    }

    /// What the monitor says of each transaction of this database. Its text is current; INNODB_LOCK_WAITS and INNODB_TRX are
    /// copies that are renewed only if nobody has read them for 0.1 s.
    private func transactions(_ connection: Connection) throws -> [String] {
        let sessions = try connection.query("SELECT id FROM information_schema.processlist WHERE db = '\(name)'")
            .map { $0[0].text }
        // What stands before is about the past.
        let status = try connection.query("SHOW ENGINE INNODB STATUS")[0][2].text
        let transactions = status.components(separatedBy: "\nTRANSACTIONS\n").last ?? ""
        return transactions.components(separatedBy: "\n---TRANSACTION ").dropFirst().filter { transaction in
            transaction.matches(of: /\nMariaDB thread id (\d+),/).contains { sessions.contains(String($0.1)) }
        }
    }

    /// How far a server has read a table's triggers when it is interrupted.
    package enum TriggerReading: CaseIterable, Sendable {
        case beforeTheirNames, afterTheirNames
    }

    /// Makes the server open a table without its triggers, as a node that aborted a statement may have. The file is whole again
    /// before anybody else looks.
    package func openWithoutTriggers(_ table: String, _ reading: TriggerReading) throws {
        let watcher = try connect()
        let folder = try watcher.query("SELECT @@datadir")[0][0].text
        let file = folder + "/\(name)/\(table).TRG"
        let whole = try String(contentsOfFile: file, encoding: .utf8)
        let lines = whole.split(separator: "\n").map { line in
            guard line.hasPrefix("triggers=") else { return String(line) }
            return switch reading {
            case .beforeTheirNames: "triggers=''"
            case .afterTheirNames: String(line).replacing("FOR EACH ROW", with: "FOR EACH ROW interrupted")
            }
        }
        try (lines.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? whole.write(toFile: file, atomically: true, encoding: .utf8) }
        try watcher.executeScript("FLUSH LOCAL TABLES \(table); SELECT * FROM \(table)")
    }

    /// Every row of every table, one a line, sorted by table and columns, to compare before and after.
    package func dump() throws -> String {
        let db = try connect()
        // In one query: SHOW COLUMNS makes a temporary table for each.
        let columns = try db.query(
            """
            SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = DATABASE()
            ORDER BY table_name, ordinal_position
            """)
        let columnsOf = Dictionary(grouping: columns) { $0[0].text }
        return try db.query("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'").map { $0[0].text }.sorted().map {
            table in
            let columns = (columnsOf[table] ?? []).map { $0[1].text }
            let list = columns.map { "`\($0)`" }.joined(separator: ", ")
            return try db.query("SELECT \(list) FROM `\(table)` ORDER BY \(list)").map { row in
                table + ": " + zip(columns, row).map { "\($0)=\($1.text)" }.joined(separator: " ") + "\n"
            }.joined()
        }.joined()
    }

    private static let count = Atomic(0)

    private struct Template {
        let tables: String
        /// The rows that the migrations insert, as statements.
        let rows: String

        var script: String { tables + rows }
    }

    /// The schema as one script, made once. Running the migrations takes a connection and several statements for each
    /// table.
    private static let template: Result<Template, any Error> = Result {
        let database = try TestDatabase(migrated: false)
        let db = try Connection(database.options.forMigrations)
        try Migrator(directory: sqlDirectory).up(db)
        return Template(tables: try SchemaText.render(db), rows: try rows(db))
    }

    /// Where the migrations are.
    package static let sqlDirectory = Repository.root + "/sql"

    private static func rows(_ db: Connection) throws -> String {
        try db.query("SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'").map { table in
            let table = table[0].text
            let columns = try db.query("SHOW COLUMNS FROM `\(table)` WHERE Extra NOT LIKE '%GENERATED%'").map {
                "`\($0[0].text)`"
            }.joined(separator: ", ")
            let rows = try db.query("SELECT \(columns) FROM `\(table)`").map { row in
                // A string in every context, unlike 0x….
                "(" + row.map { $0.map { "x'" + $0.hexadecimal + "'" } ?? "NULL" }.joined(separator: ", ") + ")"
            }
            return rows.isEmpty ? "" : "INSERT INTO `\(table)` (\(columns)) VALUES \(rows.joined(separator: ", "));\n"
        }.joined()
    }
}

extension [UInt8]? {
    /// As text if it is valid text, otherwise as hexadecimal digits.
    fileprivate var text: String {
        guard let self else { return "NULL" }
        return String(validating: self, as: UTF8.self) ?? "x'\(self.hexadecimal)'"
    }
}

extension [UInt8] {
    fileprivate var hexadecimal: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
}
