import Foundation
import TestSupport
import Testing

@testable import MariaDB

struct ConnectionTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase(migrated: false) }

    @Test func theSession() throws {
        let db = try Connection(database.options)
        let settings = try db.first(
            """
            SELECT @@tx_isolation, @@sql_mode, @@character_set_client, @@character_set_results, @@collation_connection,
                @@time_zone, @@autocommit, @@max_statement_time, @@innodb_lock_wait_timeout, @@lock_wait_timeout
            """
        ) { row in
            [
                try row.read(String.self), try row.read(String.self), try row.read(String.self),
                try row.read(String.self), try row.read(String.self), try row.read(String.self),
                "\(try row.read(Bool.self))", "\(try row.read(Double.self))", "\(try row.read(Int.self))",
                "\(try row.read(Int.self))",
            ]
        }
        #expect(
            settings == [
                "READ-COMMITTED",
                "ONLY_FULL_GROUP_BY,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,"
                    + "NO_ENGINE_SUBSTITUTION",
                "utf8mb4", "utf8mb4", "utf8mb4_nopad_bin", "+00:00", "true", "8.0", "3", "3",
            ])
    }

    /// It is set up for a cluster, but has no provider.
    @Test(arguments: [["--wsrep-on=ON", "--binlog-format=ROW"], ["--wsrep-provider="]])
    func aServerWithoutAProviderIsNoNode(_ options: [String]) throws {
        let server = try MariaDBServer(options: options)
        #expect(try !Connection(server.options()).isClusterNode)
    }

    /// It knows no such variable.
    @Test func aServerThatWasBuiltWithoutGaleraIsNoNode() throws {
        #expect(try !database.connect().answersAsClusterNode(to: "SELECT @@wsrep_unknown"))
    }

    @Test func itIsSetUpInTwoRoundTrips() throws {
        let db = try database.connect()
        let row = try db.query("SHOW SESSION STATUS LIKE 'Questions'")[0]
        // SET, whether it is a cluster, and the question itself.
        #expect(row[1].map { String(decoding: $0, as: UTF8.self) } == "3")
    }

    @Test func literalsCompareByteForByte() throws {
        let db = try database.connect()
        let equal = try db.first("SELECT ? = ?, ? = ?, ? = ?", "a", "A", "a", "a ", "é", "e\u{301}") { row in
            [try row.read(Bool.self), try row.read(Bool.self), try row.read(Bool.self)]
        }
        #expect(equal == [false, false, false])
    }

    @Test func aboutTheServer() throws {
        let db = try database.connect()
        #expect(db.serverVersion.contains("MariaDB"))
        #expect(try db.first("SELECT CONNECTION_ID()") { try $0.read(Int.self) } == db.threadID)
    }

    @Test func aStatementEndsAtItsLimit() throws {
        var options = database.options
        options.maxStatementTime = .seconds(1)
        let db = try Connection(options)
        let error = try #require(throws: MariaDBError.self) { try db.execute("SELECT SLEEP(?)", 10) }
        #expect(error.code == 1969 && !error.isConnectionLost)
        #expect(try db.first("SELECT 1") { try $0.read(Int.self) } == 1)
    }

    @Test func aKilledConnectionIsLost() throws {
        let db = try database.connect()
        try database.connect().query("KILL \(db.threadID)")
        let error = try #require(throws: MariaDBError.self) { try db.execute("SELECT 1") }
        #expect(error.isConnectionLost)
        #expect(db.lost == error)
        #expect(throws: MariaDBError.self) { try db.execute("SELECT 1") }
        #expect(throws: MariaDBError.self) { try db.query("SELECT 1") }
    }

    @Test func nobodyListens() throws {
        var options = database.options
        options.address = .unixSocket("/nonexistent/socket")
        let error = try #require(throws: MariaDBError.self) { try Connection(options) }
        #expect(error.code == 2002 && error.isConnectionLost)
    }

    @Test func aSilentServerIsGivenUp() throws {
        let silence = try SilentServer()
        var options = database.options
        options.address = .unixSocket(silence.socket)
        options.connectTimeout = .seconds(1)
        options.readTimeout = .seconds(120)
        let start = ContinuousClock.now
        let error = try #require(throws: MariaDBError.self) { try Connection(options) }
        #expect(error.isConnectionLost, "\(error)")
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test func aWrongPasswordIsNoLostConnection() throws {
        var options = database.options
        options.user = "nobody"
        options.password = "s3cr3t"
        let error = try #require(throws: MariaDBError.self) { try Connection(options) }
        #expect([1045, 1698].contains(error.code) && !error.isConnectionLost)
        #expect(!"\(error)".contains("s3cr3t"))
    }

    @Test func anUnknownDatabase() throws {
        var options = database.options
        options.database = "nowhere_\(database.name)"
        #expect(try #require(throws: MariaDBError.self) { try Connection(options) }.code == 1049)
    }

    @Test func anotherMachineNeedsTLS() throws {
        var options = database.options
        for host in ["db.example.com", "192.0.2.1", "localhost.example.com", ""] {
            options.address = .tcp(host: host, port: 3306)
            #expect(throws: MariaDBError.self) { try options.validate() }
            #expect(throws: MariaDBError.self) { try Connection(options) }
        }
        for host in ["localhost", "127.0.0.1", "::1"] {
            options.address = .tcp(host: host, port: 3306)
            try options.validate()
        }
        options.address = .tcp(host: "db.example.com", port: 3306)
        options.tls = .init(authorityFile: "/etc/ssl/certs/ca.pem")
        try options.validate()
    }

    @Test func aUnixSocketTakesNoTLS() throws {
        var options = database.options
        options.tls = .init(authorityFile: "/etc/ssl/certs/ca.pem")
        #expect(throws: MariaDBError.self) { try Connection(options) }
    }

    /// A server may ask for any local file if the client permits it.
    @Test func noLocalFileIsSent() throws {
        let db = try database.connect()
        try db.query("CREATE TABLE t (line TEXT)")
        let sql = "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t"
        #expect(throws: MariaDBError.self) { try db.query(sql) }
        #expect(try db.first("SELECT COUNT(*) FROM t") { try $0.read(Int.self) } == 0)
    }

    @Test func timeoutsOutOfOrder() throws {
        var options = database.options
        options.readTimeout = options.maxStatementTime
        #expect(throws: MariaDBError.self) { try options.validate() }
        options = database.options
        options.lockWaitTimeout = .seconds(60)
        #expect(throws: MariaDBError.self) { try options.validate() }
        options.lockWaitTimeout = .milliseconds(500)
        #expect(throws: MariaDBError.self) { try options.validate() }
    }

    @Test func optionsDoNotShowThePassword() {
        var options = database.options
        options.password = "s3cr3t"
        var dumped = ""
        dump(options, to: &dumped)
        #expect(!"\(options)".contains("s3cr3t") && !String(reflecting: options).contains("s3cr3t"))
        #expect(!dumped.contains("s3cr3t"))
    }

    /// Threads that Swift did not create. Connections are closed on other threads than those that opened them.
    @Test func anyThread() throws {
        final class Box: @unchecked Sendable { var connections: [Connection] = [] }
        let box = Box()
        let options = database.options
        for _ in 0..<8 {
            let done = DispatchSemaphore(value: 0)
            Thread {
                box.connections += (try? Connection(options)).map { [$0] } ?? []
                _ = try? box.connections.first?.execute("SELECT 1")
                done.signal()
            }.start()
            done.wait()
        }
        #expect(box.connections.count == 8)
        for db in box.connections { #expect(try db.first("SELECT 1") { try $0.read(Int.self) } == 1) }
    }
}

/// The backlog accepts connections, but nothing is ever sent.
private final class SilentServer {
    let socket = FileManager.default.temporaryDirectory.path + "/merganser-silent-\(UUID().uuidString)"
    private let descriptor: Int32

    init() throws {
        descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: socket.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(descriptor, 4) == 0)
    }

    deinit {
        close(descriptor)
        unlink(socket)
    }
}
