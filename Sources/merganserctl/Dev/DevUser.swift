import Accounts
import ArgumentParser
import IdentityTokens
import JSON

struct DevUser: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Makes an identified user and prints it as JSON.",
        discussion: "The user that holds the identity already is printed with \"created\":false and stays as it is.")

    @Option(help: ArgumentHelp("Who vouches for it.", valueName: "apple|google"))
    var provider: Provider

    @Option(parsing: .unconditional, help: "Its sub at the provider, 1 to 255 bytes.")
    var subject: String

    @Option(help: "Its e-mail address, verified.")
    var email: String?

    @Option(help: "Its name.")
    var name: String?

    @Flag(name: .customLong("json"), help: "Print errors as JSON too.")
    var wantsJSON = false

    func validate() throws {
        guard (1...255).contains(subject.utf8.count) else {
            throw ValidationError("--subject has \(subject.utf8.count) bytes; pass 1 to 255.")
        }
    }

    func run() throws {
        try Environment.requireDevelopment()
        let (user, isNew) = try Accounts.write(Environment.database(), from: .command) {
            try $0.seedUser(provider, subject: subject, email: email, name: name)
        }
        let result = Result(
            id: user.id, anonymous: user.anonymous, name: user.name, contactEmail: user.contactEmail,
            provider: provider.rawValue, sub: subject, created: isNew)
        print(String(decoding: result.json(), as: UTF8.self))
    }

    private struct Result: Encodable {
        let id: User.ID
        let anonymous: Bool
        @Nullable var name: String?
        @Nullable var contactEmail: String?
        let provider: String
        let sub: String
        let created: Bool
    }
}
