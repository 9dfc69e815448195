package import Foundation
import Synchronization

/// A program that runs beside the test, and never longer than the test.
///
/// Its output goes to files, so it cannot block on a reader. The kernel ends it when the test process ends for any
/// reason.
package final class ChildProcess: Sendable {
    package enum Exit: Equatable, Sendable {
        case status(Int32)
        case signal(Int32)
    }

    /// The result of a program that has ended.
    package struct Outcome: Sendable {
        package var exit: Exit
        package var output: String
        package var errorOutput: String
    }

    package let pid: pid_t
    private let program: String
    private let files: TemporaryDirectory
    private let exit = Mutex<Exit?>(nil)

    /// - Parameters:
    ///   - program: an absolute path; `Repository.program(_:)` knows those of this package.
    ///   - environment: all there is, but for `PATH`, `HOME` and the sanitizers' options.
    ///   - input: what it gets as descriptor 0, `/dev/null` by default.
    ///   - socket: a listening socket it inherits as descriptor 3, announced as systemd does (sd_listen_fds(3)).
    ///   - deathSignal: what it gets when the test process ends first; a program with children of its own needs a chance
    ///     to end them.
    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], input: Int32? = nil,
        socket: Int32? = nil, deathSignal: Int32 = SIGKILL
    ) throws {
        let files = try TemporaryDirectory()
        // Debian 12's setpriv knows signals by name only.
        var command = ["/usr/bin/setpriv", "--pdeathsig", deathSignal == SIGTERM ? "TERM" : "KILL", "--"]
        if socket != nil {
            command += ["/bin/sh", "-c", "LISTEN_PID=$$ LISTEN_FDS=1 exec \"$0\" \"$@\""]
        }
        command += [program] + arguments
        var environment = environment
        for (name, value) in ProcessInfo.processInfo.environment
        where environment[name] == nil && (["PATH", "HOME"].contains(name) || name.hasSuffix("SAN_OPTIONS")) {
            environment[name] = value
        }
        pid = try Spawner.run { [command, environment] in
            try spawn(command, environment, input: input, socket: socket, output: files)
        }
        self.program = program
        self.files = files
    }

    deinit {
        kill()
        _ = try? waitForExit(atMost: .seconds(10))
    }

    /// Runs a program to its end.
    package static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:], input: Int32? = nil,
        atMost time: Duration = .seconds(60)
    ) throws -> Outcome {
        let child = try ChildProcess(program, arguments, environment: environment, input: input)
        let exit = try child.waitForExit(atMost: time)
        return Outcome(exit: exit, output: child.output, errorOutput: child.errorOutput)
    }

    /// Its standard output so far.
    package var output: String { files.text("output") }

    /// Its standard error so far.
    package var errorOutput: String { files.text("error") }

    package var isRunning: Bool { poll() == nil }

    package func send(_ signal: Int32) {
        // With the lock: once it is reaped, its number may belong to somebody else.
        exit.withLock { exit in
            if exit == nil { _ = Glibc.kill(pid, signal) }
        }
    }

    package func terminate() { send(SIGTERM) }

    package func kill() { send(SIGKILL) }

    /// - Throws: if it still runs after that time.
    @discardableResult
    package func waitForExit(atMost time: Duration = .seconds(30)) throws -> Exit {
        let deadline = ContinuousClock.now + time
        while true {
            if let exit = poll() { return exit }
            guard ContinuousClock.now < deadline else {
                throw TestSupportError("\(program) did not end within \(time)\n\(output)\(errorOutput)")
            }
            usleep(2000)
        }
    }

    /// Waits until a condition is true.
    ///
    /// - Parameter what: completes "waited for".
    /// - Throws: if the condition is not true in time, or the program has ended.
    package func wait(
        for what: String, atMost time: Duration = .seconds(30), until condition: () throws -> Bool
    ) throws {
        let deadline = ContinuousClock.now + time
        while try !condition() {
            let exit = poll()
            guard exit == nil, ContinuousClock.now < deadline else {
                let state = exit.map { "ended with \($0)" } ?? "still runs after \(time)"
                throw TestSupportError("waited for \(what), but \(program) \(state)\n\(output)\(errorOutput)")
            }
            usleep(2000)
        }
    }

    private func poll() -> Exit? {
        exit.withLock { exit in
            var status: Int32 = 0
            if exit == nil, waitpid(pid, &status, WNOHANG) == pid {
                exit = status & 0x7f == 0 ? .status(status >> 8 & 0xff) : .signal(status & 0x7f)
            }
            return exit
        }
    }
}

private func spawn(
    _ command: [String], _ environment: [String: String], input: Int32?, socket: Int32?, output: TemporaryDirectory
) throws(TestSupportError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    // The socket first: its number may be one that the others take.
    if let socket { posix_spawn_file_actions_adddup2(&actions, socket, 3) }
    if let input {
        posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    for (descriptor, name) in [(Int32(1), "output"), (2, "error")] {
        posix_spawn_file_actions_addopen(
            &actions, descriptor, output.file(name), O_WRONLY | O_CREAT | O_APPEND, 0o600)
    }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A process group of its own: an interrupt at the terminal is for the tests. No signal blocked or ignored.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    var all = sigset_t()
    sigfillset(&all)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
        &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let arguments = command.map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for string in arguments + variables { free(string) } }
    var pid = pid_t()
    let code = posix_spawn(&pid, command[0], &actions, &attributes, arguments, variables)
    if code != 0 { throw TestSupportError(command[0], code: code) }
    return pid
}
