import TestSupport

/// A responder that returns the request it got.
struct Echo {
    private let process: ChildProcess

    /// Returns when the responder accepts requests.
    init(socket: String, threads: Int = 4) throws {
        let process = try ChildProcess(
            Repository.program("fastcgi-echo"), ["--socket", socket, "--threads", "\(threads)"])
        try process.wait(for: "fastcgi-echo") { process.output.contains("ready") }
        self.process = process
    }
}
