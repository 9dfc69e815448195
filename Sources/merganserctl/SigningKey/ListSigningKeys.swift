import AccountReplies
import Accounts
import ArgumentParser
import Database
import Time

struct ListSigningKeys: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists keys, removed ones too, in the order of their creation; shows no key material.",
        discussion: """
            A key has one of these states. next: it is published and waits to be activated. active: it signs. retired: \
            it verifies tokens that it signed. removed: it is not published any more.
            """)

    @OptionGroup var output: Output

    func run() throws {
        let now = Clock.system.now
        let keys = try Environment.database().read { try $0.signingKeys() }
        output.print(
            ["signing_keys": keys.map { SigningKeyReply($0, at: now) }],
            keys.map { words(of: $0, at: now) }.joined(separator: "\n"))
    }

    private func words(of key: SigningKey, at now: Timestamp) -> String {
        let times = [
            "published \(key.publishedAt.iso8601)", key.activatedAt.map { "signs from \($0.iso8601)" },
            key.retiredAt.map { "to \($0.iso8601)" },
        ]
        return ([key.keyID, key.state(at: now).rawValue.padded(to: 8)] + times.compactMap { $0 })
            .joined(separator: "  ")
    }
}
