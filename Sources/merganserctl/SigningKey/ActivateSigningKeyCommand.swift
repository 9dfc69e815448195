import AccountReplies
import Accounts
import ArgumentParser
import JSON
import Time

struct ActivateSigningKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate", abstract: "Starts signing with a published key, and retires the previous one.",
        discussion: """
            Refuses until the key has been published for an hour, because clients keep the key set that long. The very \
            first key need not wait. With --force it does not refuse, and the key signs as soon as it has been published \
            for 30 seconds. Then clients refuse its tokens until they fetch the key set again; some do so as soon as they \
            see an unknown key.
            """)

    @Argument(help: "The key's kid. (default: the key that waits to be activated)")
    var kid: String?

    @Flag(help: "Do not wait until clients know the key. Use this if the previous private key was stolen.")
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
                key.publishedUntil.map { "key \(key.keyID) stays published until \($0.iso8601), to verify its tokens" }
            },
        ]
        output.print(
            Result(
                activated: SigningKeyReply(activated, at: now), retired: retired.map { SigningKeyReply($0, at: now) }),
            words.compactMap { $0 }.joined(separator: "\n"))
    }

    private struct Result: Encodable {
        let activated: SigningKeyReply
        @Nullable var retired: SigningKeyReply?
    }
}
