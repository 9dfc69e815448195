// This target owns what is fuzzed: for each reader of hostile bytes a function that takes any input and throws when what
// the reader makes of it breaks a rule. `make fuzz` feeds these from libFuzzer, and FuzzingTests replays the inputs kept in
// Corpus. It does not own the rules themselves: those stand where the readers do.

/// A reader of hostile bytes, with the rules that hold for any input.
package struct Fuzzer: Sendable {
    /// The folder of its inputs in `Corpus`, and its dictionary there.
    package let name: String
    /// The largest input, in bytes. Larger ones only take longer.
    package let maximumSize: Int
    /// Throws a `Violation`.
    package let check: @Sendable ([UInt8]) throws -> Void

    package static let all = [fastCGI, jwt, keySet, json, form, gzip, fields, mail, answer]
}
