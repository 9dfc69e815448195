import Foundation
package import MariaDB
import Synchronization

/// A private `mariadbd` with its own data directory, reached by a unix socket only and by the user who runs the tests.
/// It never outlives the test process, however that ends, and leaves nothing behind.
package final class MariaDBServer: Sendable {
    package let socket: String

    private let directory: String
    private let arguments: [String]
    private let process = Mutex<ServerProcess?>(nil)

    /// `options` are added to mariadbd's command line: `["--log-bin", "--server-id=1"]`.
    package init(options: [String] = []) throws {
        var template = Array((FileManager.default.temporaryDirectory.path + "/merganser-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw ServerFailure("mkdtemp: \(String(cString: strerror(errno)))") }
        directory = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        socket = directory + "/socket"
        // What a killed process has written the page cache keeps; only a machine that stops needs the disk to be waited for.
        arguments =
            [directory + "/data", socket, "--innodb-flush-method=nosync", "--innodb-buffer-pool-size=64M"] + options
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Of the server of the whole test run: `MERGANSER_TEST_DATABASE_SOCKET`, or one started now.
    package static var sharedSocket: String {
        get throws {
            try ProcessInfo.processInfo.environment["MERGANSER_TEST_DATABASE_SOCKET"] ?? shared.get().socket
        }
    }

    private static let shared = Result { try MariaDBServer() }

    /// As the user who runs the tests, who may do everything.
    package func options(database: String? = nil) -> Connection.Options {
        Self.options(socket: socket, database: database)
    }

    package static func options(socket: String, database: String? = nil) -> Connection.Options {
        Connection.Options(address: .unixSocket(socket), user: NSUserName(), database: database)
    }

    /// Returns when it accepts connections.
    package func start() throws {
        let log = directory + "/log"
        let process = try ServerProcess(
            TestDatabase.repository + "/scripts/mariadbd", arguments, log: log, removing: directory)
        self.process.withLock { $0 = process }
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? Connection(options())) == nil {
            guard process.isRunning, ContinuousClock.now < deadline else {
                throw ServerFailure("mariadbd: " + ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "no log"))
            }
            usleep(10_000)
        }
    }

    /// In good order.
    package func stop() { end(SIGTERM) }

    /// As it happens when memory runs out.
    package func kill9() { end(SIGKILL) }

    package func restart() throws {
        stop()
        try start()
    }

    private func end(_ signal: Int32) {
        process.withLock { process in
            process?.end(signal)
            process = nil
        }
    }
}

package struct ServerFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// A server and the watchdog that kills it, and removes its directory, when the test process is gone.
///
/// The watchdog reads from a socket whose other end only the test process holds, and so learns of its end.
private final class ServerProcess: Sendable {
    private let pid: pid_t
    private let watchdog: pid_t
    private let lifeline: Int32
    private let hasEnded = Mutex(false)

    init(_ program: String, _ arguments: [String], log: String, removing directory: String) throws {
        var ends: [Int32] = [0, 0]
        // Not a pipe: only a socket is closed on exec from its first moment.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw ServerFailure("socketpair: \(String(cString: strerror(errno)))")
        }
        lifeline = ends[1]
        defer { close(ends[0]) }
        pid = try spawn(program, arguments, input: nil, output: log)
        watchdog = try spawn(
            "/bin/sh", ["-c", "read -r _; kill -9 $1; rm -rf \"$2\"", "sh", "\(pid)", directory], input: ends[0],
            output: "/dev/null")
    }

    var isRunning: Bool {
        hasEnded.withLock { hasEnded in
            if !hasEnded { hasEnded = waitpid(pid, nil, WNOHANG) == pid }
            return !hasEnded
        }
    }

    /// Returns when it has ended.
    func end(_ signal: Int32) {
        // The watchdog first, or it might kill a stranger that got the process id.
        kill(watchdog, SIGKILL)
        waitpid(watchdog, nil, 0)
        close(lifeline)
        hasEnded.withLock { hasEnded in
            guard !hasEnded else { return }
            kill(pid, signal)
            waitpid(pid, nil, 0)
            hasEnded = true
        }
    }
}

private func spawn(_ program: String, _ arguments: [String], input: Int32?, output: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
        posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    // Its own group: an interrupt at the terminal is for the tests. And no signal that the tests may have blocked.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
    let argv = ([program] + arguments).map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    var pid: pid_t = 0
    let result = posix_spawn(&pid, program, &actions, &attributes, argv, environ)
    guard result == 0 else { throw ServerFailure("\(program): \(String(cString: strerror(result)))") }
    return pid
}
