import ArgumentParser
import Foundation
import JSON

/// `--json` of every command.
struct Output: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object, errors too.")
    var wantsJSON = false

    /// Prints a result: as JSON if asked for, else in words.
    func print(_ value: some Encodable, _ words: @autoclosure () -> String) {
        Swift.print(wantsJSON ? String(decoding: value.json(), as: UTF8.self) : words())
    }

    /// Says how far a long command is; nothing with `--json`.
    func progress(_ words: String) {
        if !wantsJSON { FileHandle.standardError.write(Data("\(words)\n".utf8)) }
    }
}
