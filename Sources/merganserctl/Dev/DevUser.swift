import Accounts
import ArgumentParser
import IdentityTokens
import JSON

struct DevUser: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user", abstract: "Creates an identified user and prints it as JSON.",
        discussion: "If a user already has the identity, that user is printed unchanged, with \"created\":false.")

    @Option(help: ArgumentHelp("The provider of the identity.", valueName: "apple|google"))
    var provider: Provider

    @Option(parsing: .unconditional, help: "The sub at the provider, 1 to 255 bytes.")
    var subject: String

    @Option(help: "The e-mail address, which counts as verified.")
    var email: String?

    @Option(help: "The name.")
    var name: String?

    @Flag(name: .customLong("json"), help: "Print errors as JSON, too.")
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
