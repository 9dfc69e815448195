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
        Swift.print(wantsJSON ? String(decoding: value.json(), as: UTF8.self) : words())
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
