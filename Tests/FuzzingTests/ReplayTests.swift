import Foundation
import Fuzzing
import TestSupport
import Testing

/// Every input kept in the corpus, what fuzzers found among them, one after the other: the fuzzed responder is shared.
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
