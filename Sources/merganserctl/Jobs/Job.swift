import ArgumentParser
import Glibc

/// What the background jobs have in common.
struct Job: ParsableArguments {
    @Flag(name: .customLong("dry-run"), help: "Show what would be done, and change nothing.")
    var isDryRun = false

    @Option(name: .customLong("pause"), help: "Milliseconds to pause after each transaction.")
    var pauseMilliseconds: UInt16 = 0

    func pause() {
        if pauseMilliseconds > 0 { usleep(UInt32(pauseMilliseconds) * 1000) }
    }

    /// Describes what was done, or what would be done.
    func words(_ text: String) -> String { isDryRun ? "a run would do this; nothing was changed\n" + text : text }

    /// As a table.
    func words(_ lines: [(String, String)]) -> String {
        lines.map { "\($0.0.padded(to: 24)) \($0.1)" }.joined(separator: "\n")
    }
}
