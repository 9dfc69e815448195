import TestSupport

/// A responder that tells what it was asked.
struct Echo {
    private let process: ChildProcess

    /// Returns when it serves.
    init(socket: String, threads: Int = 4) throws {
        let process = try ChildProcess(
            Repository.program("fastcgi-echo"), ["--socket", socket, "--threads", "\(threads)"])
        try process.wait(for: "fastcgi-echo") { process.output.contains("ready") }
        self.process = process
    }
}
