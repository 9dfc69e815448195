import TestSupport

/// A running `fastcgi-echo`, with its own socket or one that it inherited.
final class EchoServer: Sendable {
    let process: ChildProcess
    let path: String

    /// Returns when the server accepts requests.
    init(
        at path: String, threads: Int = 4, receiveTimeout: Duration = .seconds(10),
        drainLimit: Duration = .seconds(30), options: [String] = [], environment: [String: String] = [:]
    ) throws {
        self.path = path
        process = try ChildProcess(
            EchoServer.program,
            ["--socket", path] + EchoServer.options(threads, receiveTimeout, drainLimit) + options,
            environment: environment)
        try waitUntilReady()
    }

    /// - Parameters:
    ///   - input: a listening socket, as descriptor 0.
    ///   - socket: a listening socket, as systemd passes it.
    init(
        inheriting path: String, input: Int32? = nil, socket: Int32? = nil, threads: Int = 4,
        receiveTimeout: Duration = .seconds(10), drainLimit: Duration = .seconds(30),
        environment: [String: String] = [:]
    ) throws {
        self.path = path
        process = try ChildProcess(
            EchoServer.program, ["--inherited"] + EchoServer.options(threads, receiveTimeout, drainLimit),
            environment: environment, input: input, socket: socket)
        try waitUntilReady()
    }

    static let program = Repository.program("fastcgi-echo")

    func connect() throws -> FastCGIClient { try FastCGIClient(path) }

    /// Drains the server and waits for its end.
    ///
    /// - Returns: its report of the drain.
    @discardableResult
    func end() throws -> Drained {
        process.terminate()
        return try waitForEnd()
    }

    func waitForEnd() throws -> Drained {
        let exit = try process.waitForExit(atMost: .seconds(60))
        let output = process.output
        guard exit == .status(0), let line = output.split(separator: "\n").last else {
            throw TestSupportError("fastcgi-echo ended with \(exit)\n\(output)\(process.errorOutput)")
        }
        let numbers = line.split(separator: " ").compactMap { Int($0.split(separator: "=").last ?? "") }
        guard line.hasPrefix("drained "), numbers.count == 3 else { throw TestSupportError(String(line)) }
        return Drained(requests: numbers[0], cut: numbers[1], aborted: numbers[2])
    }

    /// Waits until the server has written a line with this prefix.
    func wait(forLine prefix: String) throws {
        try process.wait(for: "\"\(prefix)\"") {
            process.output.split(separator: "\n").contains { $0.hasPrefix(prefix) }
        }
    }

    private func waitUntilReady() throws { try wait(forLine: "ready") }

    private static func options(_ threads: Int, _ receiveTimeout: Duration, _ drainLimit: Duration) -> [String] {
        [
            "--threads", String(threads), "--receive-timeout", milliseconds(receiveTimeout), "--drain-limit",
            milliseconds(drainLimit),
        ]
    }

    private static func milliseconds(_ duration: Duration) -> String { String(Int(duration / .milliseconds(1))) }
}

struct Drained: Equatable {
    var requests: Int
    var cut: Int
    var aborted: Int
}

/// A socket directory and a server in it.
struct EchoFixture {
    let directory: TemporaryDirectory
    let server: EchoServer

    init(
        threads: Int = 4, receiveTimeout: Duration = .seconds(10), drainLimit: Duration = .seconds(30),
        options: [String] = []
    ) throws {
        directory = try TemporaryDirectory()
        server = try EchoServer(
            at: directory.file("echo.sock"), threads: threads, receiveTimeout: receiveTimeout,
            drainLimit: drainLimit, options: options)
    }
}

/// Bytes without a period, so that a loss shows. The same seed gives the same bytes.
func noise(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        for index in 0..<count {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            buffer[index] = UInt8(truncatingIfNeeded: state)
        }
        initialized = count
    }
}
