import Foundation
package import MariaDB
import Synchronization

/// A private `mariadbd` with its own data directory. Only the user who runs the tests can reach it, over a unix socket.
package final class MariaDBServer: Sendable {
    package var socket: String { directory.file("socket") }

    private let directory: TemporaryDirectory
    private let options: [String]
    private let process = Mutex<ChildProcess?>(nil)

    /// `options` are added to mariadbd's command line: `["--log-bin", "--server-id=1"]`.
    package init(options: [String] = []) throws {
        directory = try TemporaryDirectory()
        // What a killed process has written stays in the page cache; only the machine's own end would need the disk.
        self.options = ["--innodb-flush-method=nosync", "--sync-frm=OFF", "--innodb-buffer-pool-size=64M"] + options
        try start()
    }

    deinit { kill9() }

    /// The socket of the server for the whole test run: `MERGANSER_TEST_DATABASE_SOCKET`, or a server that is started
    /// now.
    package static var sharedSocket: String {
        get throws {
            try ProcessInfo.processInfo.environment["MERGANSER_TEST_DATABASE_SOCKET"] ?? shared.get().socket
        }
    }

    /// The sockets of the other nodes if the server is one of a cluster: `MERGANSER_TEST_DATABASE_NODES`, separated by
    /// colons.
    package static let otherNodes = (ProcessInfo.processInfo.environment["MERGANSER_TEST_DATABASE_NODES"] ?? "")
        .split(separator: ":").map(String.init)

    private static let shared: Result<MariaDBServer, any Error> = Result {
        let server = try MariaDBServer()
        // Globals are never deinitialized.
        atexit {
            guard case .success(let server) = MariaDBServer.shared else { return }
            server.kill9()
            try? FileManager.default.removeItem(atPath: server.directory.path)
        }
        return server
    }

    /// Connects as the user who runs the tests, who has all privileges.
    package func options(database: String? = nil) -> Connection.Options {
        Self.options(socket: socket, database: database)
    }

    package static func options(socket: String, database: String? = nil) -> Connection.Options {
        var options = Connection.Options(address: .unixSocket(socket), user: NSUserName(), database: database)
        // A busy machine may keep the server waiting.
        options.connectTimeout = .seconds(60)
        // Tests hold locks while processes start and end.
        options.idleTransactionTimeout = .seconds(300)
        return options
    }

    /// For statements of definition.
    static func administrator(socket: String) throws -> Connection {
        try Connection(options(socket: socket).patient)
    }

    /// Returns when the server accepts connections.
    package func start() throws {
        let process = try ChildProcess(
            Repository.root + "/scripts/mariadbd", [directory.file("data"), socket] + options)
        // A node of a cluster accepts connections before it runs statements.
        try process.wait(for: "connections to \(socket)", atMost: .seconds(60)) {
            (try? Connection(options()).executeScript("DO 1")) != nil
        }
        self.process.withLock { $0 = process }
    }

    /// Stops it gracefully.
    package func stop() throws { try end(SIGTERM) }

    /// Kills it, as the kernel does when memory runs out.
    package func kill9() { try? end(SIGKILL) }

    package func restart() throws {
        try stop()
        try start()
    }

    private func end(_ signal: Int32) throws {
        try process.withLock { process in
            process?.send(signal)
            try process?.waitForExit()
            process = nil
        }
    }
}

extension Connection.Options {
    /// A copy for what a test does itself, which may take long on a busy machine.
    package var patient: Connection.Options {
        var options = unhurried
        options.lockWaitTimeout = .seconds(30)
        return options
    }

    /// A copy that waits as long for a lock, and longer for the server.
    package var unhurried: Connection.Options {
        var options = self
        (options.maxStatementTime, options.readTimeout) = (.seconds(60), .seconds(90))
        return options
    }
}
