import Accounts
import ArgumentParser
import JSON
import Time

struct ActivateSigningKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate", abstract: "Has a published key sign, and retires the one before.",
        discussion: """
            Refused before the key has been published for an hour, since clients keep the key set for so long; the first \
            key of all needs no wait. With --force a key signs from 30 seconds after its publication on: clients that \
            do not fetch the key set again when they meet an unknown key refuse its tokens until they do.
            """)

    @Argument(help: "Its kid. (default: the key that waits)")
    var kid: String?

    @Flag(help: "Do not wait for clients to know the key: for a predecessor whose private part was stolen.")
    var force = false

    @OptionGroup var output: Output

    func run() throws {
        let serverKey = try Environment.serverKey()
        let (activated, retired) = try Accounts.write(Environment.database(), from: .command) {
            try $0.activateSigningKey(kid, isForced: force, serverKey: serverKey)
        }
        let now = Clock.system.now
        let words = [
            activated.activatedAt.map { start in
                let from = start > now ? "from \(start.iso8601) on" : "from now on"
                return "key \(activated.keyID) signs \(from); running servers follow within 30 seconds"
            },
            retired.flatMap { key in
                key.publishedUntil.map { "key \(key.keyID) stays published until \($0.iso8601), for what it signed" }
            },
        ]
        output.print(
            Result(
                activated: SigningKeyBody(activated, at: now), retired: retired.map { SigningKeyBody($0, at: now) }),
            words.compactMap { $0 }.joined(separator: "\n"))
    }

    private struct Result: Encodable {
        let activated: SigningKeyBody
        @Nullable var retired: SigningKeyBody?
    }
}
