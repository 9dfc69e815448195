import JSON
import TestSupport

/// A command of `merganserctl` without subcommands. The list comes from the program itself.
struct ToolCommand: Sendable, CustomStringConvertible {
    let words: [String]
    /// The arguments that it requires.
    let arguments: [String]

    var description: String { words.joined(separator: " ") }

    static let all: [ToolCommand] = {
        do {
            let dump = try ChildProcess.run(Repository.program("merganserctl"), ["--experimental-dump-help"])
            return leaves(of: try JSONValue(json: Array(dump.output.utf8))["command"] ?? .null, [])
        } catch {
            preconditionFailure("\(error)")
        }
    }()

    /// All but those that change the machine that they run on.
    static let ofTheDatabase = all.filter { !["setup", "release"].contains($0.description) }

    /// Every group of commands, by its words.
    static let groups = Set(all.flatMap { command in command.words.indices.map { Array(command.words[..<$0]) } })

    private static func leaves(of command: JSONValue, _ words: [String]) -> [ToolCommand] {
        let subcommands = (command["subcommands"]?.array ?? []).filter { $0["commandName"] != "help" }
        if subcommands.isEmpty {
            return [ToolCommand(words: words, arguments: required[words.joined(separator: " ")] ?? [])]
        }
        return subcommands.flatMap { leaves(of: $0, words + [$0["commandName"]?.string ?? ""]) }
    }

    private static let required = [
        "application create": ["--name", "N", "--client-type", "public", "--redirect-uri", "https://rp.example/cb"],
        "application show": ["logi_none"],
        "application set": ["logi_none", "--status", "active"],
        "application approve": ["logi_none"],
        "application refuse": ["logi_none", "--revision", "r"],
        "application suspend": ["logi_none"],
        "application rotate-secret": ["logi_none"],
        "webhook-key rotate": ["logi_none"],
        "webhook-key compromised": ["logi_none", "whk_2026q2_00"],
        "dispatch": ["--once"],
        "outbox replay": ["--application", "logi_none", "--dead"],
        "outbox enable": ["logi_none"],
        "user show": ["1"],
        "user merge": ["1", "2", "--email", "person@example.com"],
        "user role": ["1", "developer"],
        "user export": ["1"],
        "user restore": ["1"],
        "anonymous prune": ["--inactive-days", "90"],
        "merge show": ["1"],
        "merge undo": ["1"],
        "team create": ["--name", "N"],
        "project create": ["--team", nobody, "--name", "N", "--slug", "n"],
        "project set": [nobody, "--name", "N"],
        "project show": [nobody],
        "app create": ["--project", nobody, "--platform", "web", "--name", "N"],
        "api-key create": ["--type", "client", "--app", nobody],
        "api-key revoke": [nobody],
        "questionnaire create": ["--project", nobody, "\(Repository.root)/Tests/Fixtures/questionnaire.json"],
        "dev token": ["--provider", "apple", "--subject", "s", "--nonce", "n"],
        "dev seed": ["--user", "1"],
        "dev user": ["--provider", "apple", "--subject", "s"],
    ]
}
