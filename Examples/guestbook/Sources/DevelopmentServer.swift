import Foundation
import MerganserAuth

/// The instance that `make run` started, and its stand-in for Apple.
struct DevelopmentServer {
    let url: URL
    let clientID: String
    private let tool: String

    /// - Throws: if the environment has not what `.run/env` sets.
    init(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws {
        guard let url = environment["MERGANSER_URL"].flatMap(URL.init(string:)),
            let clientID = environment["MERGANSER_CLIENT_ID"], let tool = environment["MERGANSERCTL"]
        else { throw Failure(description: "Run make guestbook, or source .run/env first.") }
        (self.url, self.clientID, self.tool) = (url, clientID, tool)
    }

    /// What Sign in with Apple gives an app, on a device: here the stand-in signs it.
    func appleCredential(of subject: String) throws -> ProviderCredential {
        let nonce = SignInNonce()
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: tool)
        process.arguments = ["dev", "token", "--provider", "apple", "--subject", subject, "--nonce", nonce.raw]
        process.standardOutput = output
        try process.run()
        let token = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "merganserctl dev token failed.") }
        return .apple(identityToken: token.trimmingCharacters(in: .whitespacesAndNewlines), nonce: nonce.raw)
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// Fails the example if something is not as it says.
func expect(_ condition: Bool, _ sentence: String) throws {
    guard condition else { throw Failure(description: "Not so: \(sentence)") }
    print("   \(sentence)")
}
