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
        // mariadbd does not run as root unless it is told to.
        let identity = geteuid() == 0 ? ["--user=root"] : []
        arguments =
            [
                "--no-defaults", "--datadir=\(directory)/data", "--socket=\(socket)", "--pid-file=\(directory)/pid",
                "--skip-networking", "--skip-name-resolve", "--max-connections=500",
                "--character-set-server=utf8mb4", "--collation-server=utf8mb4_unicode_ci",
                "--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M",
            ] + identity + options
        try run(
            "mariadb-install-db",
            [
                "--no-defaults", "--datadir=\(directory)/data", "--auth-root-authentication-method=socket",
                "--auth-root-socket-user=\(NSUserName())", "--skip-test-db",
            ] + identity, output: directory + "/install.log")
        try start()
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// The server of the whole test run: the one at `MERGANSER_TEST_DATABASE_SOCKET`, or one started now.
    package static let shared: Result<Shared, any Error> = Result {
        if let socket = ProcessInfo.processInfo.environment["MERGANSER_TEST_DATABASE_SOCKET"] {
            return Shared(socket: socket, server: nil)
        }
        let server = try MariaDBServer()
        return Shared(socket: server.socket, server: server)
    }

    package struct Shared: Sendable {
        package let socket: String
        private let server: MariaDBServer?

        fileprivate init(socket: String, server: MariaDBServer?) {
            self.socket = socket
            self.server = server
        }
    }

    /// As the user who runs the tests, who may do everything.
    package func options(database: String? = nil) -> Connection.Options {
        Self.options(socket: socket, database: database)
    }

    package static func options(socket: String, database: String? = nil) -> Connection.Options {
        Connection.Options(address: .unixSocket(socket), user: NSUserName(), database: database)
    }

    /// Returns when it accepts connections.
    package func start() throws {
        let process = try ServerProcess(
            "mariadbd", arguments, output: directory + "/error.log", removing: directory)
        self.process.withLock { $0 = process }
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? Connection(options())) == nil {
            guard process.isRunning, ContinuousClock.now < deadline else {
                let log = (try? String(contentsOfFile: directory + "/error.log", encoding: .utf8)) ?? ""
                throw ServerFailure("mariadbd did not start:\n\(log)")
            }
            usleep(10_000)
        }
    }

    /// In good order.
    package func stop() { end(SIGTERM) }

    /// As if the machine's power had failed, but for what the page cache holds.
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

private func run(_ program: String, _ arguments: [String], output: String) throws {
    let pid = try spawn(program, arguments, input: nil, output: output)
    var status: Int32 = 0
    guard waitpid(pid, &status, 0) == pid, status == 0 else {
        throw ServerFailure("\(program):\n" + ((try? String(contentsOfFile: output, encoding: .utf8)) ?? ""))
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
    // mariadbd lives in /usr/sbin, which not everybody has in PATH.
    let path = (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin") + ":/usr/sbin:/usr/local/sbin"
    let candidates: [String] = path.split(separator: ":").map { "\($0)/\(program)" }
    guard let file = candidates.first(where: { access($0, X_OK) == 0 }) else {
        throw ServerFailure("\(program) is not installed")
    }
    var pid: pid_t = 0
    let result = posix_spawn(&pid, file, &actions, &attributes, argv, environ)
    guard result == 0 else { throw ServerFailure("\(program): \(String(cString: strerror(result)))") }
    return pid
}

/// A server and the watchdog that kills it, and removes its directory, when the test process is gone.
///
/// The watchdog reads from a socket whose other end only the test process holds, and so learns of its end.
private final class ServerProcess: Sendable {
    private let pid: pid_t
    private let watchdog: pid_t
    private let lifeline: Int32
    private let hasEnded = Mutex(false)

    init(_ program: String, _ arguments: [String], output: String, removing directory: String) throws {
        var ends: [Int32] = [0, 0]
        // Not a pipe: only a socket is closed on exec from its first moment.
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw ServerFailure("socketpair: \(String(cString: strerror(errno)))")
        }
        lifeline = ends[1]
        defer { close(ends[0]) }
        pid = try spawn(program, arguments, input: nil, output: output)
        watchdog = try spawn(
            "sh", ["-c", "read -r _; kill -9 $1; rm -rf \"$2\"", "sh", "\(pid)", directory], input: ends[0],
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
