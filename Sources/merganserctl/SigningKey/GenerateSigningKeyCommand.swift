import Accounts
import ArgumentParser
import OpenSSL
import Time

struct GenerateSigningKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate", abstract: "Generates a key and publishes it. The key does not sign yet.",
        discussion: """
            Generates an RSA key of 2048 bits, for RS256. Its private part is stored encrypted under \
            MERGANSER_SERVER_KEY and never shown. Next, run `signing-key activate` an hour later, when all clients \
            have fetched the key set again. If this is the very first key, activate it at once.
            """)

    @OptionGroup var output: Output

    func run() throws {
        let serverKey = try Environment.serverKey()
        let privateKey = try PrivateKey.generateRSA()
        let (key, time) = try Accounts.write(Environment.database(), from: .command) {
            try $0.publish(privateKey, sealedUnder: serverKey)
        }
        let isFirst = time == key.publishedAt
        output.print(
            Result(kid: key.keyID, publishedAt: key.publishedAt.iso8601, activatableAt: time.iso8601),
            """
            key \(key.keyID) is published; running servers follow within 30 seconds
            next, \(isFirst ? "at once" : "from \(time.iso8601) on"): merganserctl signing-key activate \(key.keyID)
            """)
    }

    private struct Result: Encodable {
        let kid: String
        let publishedAt: String
        let activatableAt: String
    }
}
