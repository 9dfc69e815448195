import Foundation

/// Runs what needs Apple's systems on the stubs: what the libraries do with the answers of Apple's frameworks, not what these
/// answer.
@main struct Checks {
    static func main() async throws {
        try KeychainChecks.run()
        try await BrowserChecks.run()
        try LifecycleChecks.run()
    }
}

struct Failed: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

func check(_ condition: Bool, _ sentence: String) throws {
    if !condition { throw Failed("not so: \(sentence)") }
}
