import ArgumentParser
import Files
import Glibc
import JSON

/// `--json` of every command.
struct Output: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object, errors too.")
    var wantsJSON = false

    /// Prints a result: as JSON if asked for, else in words.
    func print(_ value: some Encodable, _ words: @autoclosure () -> String) {
        // In the place of the meter.
        meter("")
        Swift.print(wantsJSON ? String(decoding: value.json(), as: UTF8.self) : words())
    }

    /// Says how far a command is that has a lot to say, on one line that changes; nothing but on a terminal.
    func meter(_ words: String) {
        if !wantsJSON, isatty(STDERR_FILENO) == 1 { StandardError.write("\r\(words)\u{1B}[K") }
    }

    /// Says how far a long command is; nothing with `--json`.
    func progress(_ words: String) {
        if !wantsJSON { StandardError.write("\(words)\n") }
    }
}
