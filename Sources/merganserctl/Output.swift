import ArgumentParser
import Files
import Glibc
import JSON

/// `--json` of every command.
struct Output: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object, for errors too.")
    var wantsJSON = false

    /// Prints a result: as JSON with `--json`, otherwise in words.
    func print(_ value: some Encodable, _ words: @autoclosure () -> String) {
        // Clears the meter's line.
        meter("")
        write(wantsJSON ? value.json() : Array(words().utf8))
        write([UInt8(ascii: "\n")])
    }

    /// A part of a result. A command whose result nobody gets has not done what it was asked for, and ends with status 1.
    func write(_ bytes: [UInt8]) {
        do {
            try StandardOutput.write(bytes)
        } catch {
            ToolError(
                .failed, "the command was carried out, but its result could not be written to standard output: \(error)"
            ).exit(json: wantsJSON)
        }
    }

    /// Shows a command's progress on one line that is overwritten each time; only on a terminal.
    func meter(_ words: String) {
        if !wantsJSON, isatty(STDERR_FILENO) == 1 { StandardError.write("\r\(words)\u{1B}[K") }
    }

    /// Prints a line about the progress of a long command; nothing with `--json`.
    func progress(_ words: String) {
        if !wantsJSON { StandardError.write("\(words)\n") }
    }
}
