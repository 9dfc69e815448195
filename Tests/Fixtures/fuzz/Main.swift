import CLibFuzzer
import Fuzzing
import Glibc

// Runs one fuzzer under libFuzzer; scripts/fuzz builds and calls it.
//
//     fuzz list                  the fuzzers, a name and the largest input's size on a line each
//     fuzz NAME OPTION… FOLDER…  libFuzzer's own options and folders of inputs

@main struct Main {
    nonisolated(unsafe) private static var check: ([UInt8]) throws -> Void = { _ in }

    static func main() {
        guard CommandLine.arguments.count > 1, CommandLine.arguments[1] != "list" else {
            for fuzzer in Fuzzer.all { print(fuzzer.name, fuzzer.maximumSize) }
            return
        }
        guard let fuzzer = Fuzzer.all.first(where: { $0.name == CommandLine.arguments[1] }) else {
            print("there is no fuzzer \(CommandLine.arguments[1]); `fuzz list` has them")
            exit(2)
        }
        check = fuzzer.check
        // The fuzzer's name takes the program's place: libFuzzer would take it for a folder.
        var count = CommandLine.argc - 1
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv + 1
        exit(
            LLVMFuzzerRunDriver(&count, &arguments) { data, size in
                Main.run(Array(UnsafeBufferPointer(start: data, count: size)))
                return 0
            })
    }

    private static func run(_ input: [UInt8]) {
        do { try check(input) } catch { fatalError("\(error)") }
    }
}
