import Foundation
import Fuzzing
import TestSupport
import Testing

/// Runs every input of the corpus, including past findings, one after the other, because they share the fuzzed
/// responder.
@Suite(.serialized) struct ReplayTests {
    @Test(arguments: try Input.all) func holds(_ input: Input) throws { try input.fuzzer.check(try input.bytes) }

    @Test func everyFuzzerHasInputs() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Input.corpus).filter {
            !$0.hasSuffix(".dict")
        }
        #expect(folders.sorted() == Fuzzer.all.map(\.name).sorted())
        #expect(try Set(Input.all.map(\.fuzzer.name)) == Set(folders))
    }
}

struct Input: CustomTestStringConvertible, Sendable {
    let fuzzer: Fuzzer
    let name: String

    var testDescription: String { "\(fuzzer.name)/\(name)" }

    var bytes: [UInt8] {
        get throws { [UInt8](try Data(contentsOf: URL(filePath: "\(Self.corpus)/\(fuzzer.name)/\(name)"))) }
    }

    static let corpus = "\(Repository.root)/Tests/Fuzzing/Corpus"

    static var all: [Input] {
        get throws {
            try Fuzzer.all.flatMap { fuzzer in
                try FileManager.default.contentsOfDirectory(atPath: "\(corpus)/\(fuzzer.name)").sorted()
                    .map { Input(fuzzer: fuzzer, name: $0) }
            }
        }
    }
}
