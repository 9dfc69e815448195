import Foundation
import JSON
import Release
import TestSupport
import Testing

/// Rules that every command follows.
@Suite struct ToolTests {
    @Test func coversTheCommandsThatExist() {
        #expect(
            ToolCommand.all.map(\.description) == [
                "migrate up", "migrate status", "migrate plan", "migrate schema", "signing-key generate",
                "signing-key activate", "signing-key list", "server-key rotate", "application create",
                "application list", "application show", "application set", "application approve", "application refuse",
                "application suspend", "application rotate-secret", "webhook-key rotate",
                "webhook-key compromised", "user show", "user export", "user role", "user merge", "user restore",
                "merge list", "merge show", "merge undo", "purge",
                "anonymous prune", "team create", "team list", "project create", "project set", "project list",
                "project show",
                "app create", "app list",
                "api-key create", "api-key list", "api-key revoke", "questionnaire create", "gc", "dispatch",
                "outbox list", "outbox replay", "outbox enable", "compact", "retention", "attachments clean",
                "attachments recount", "verify", "doctor", "setup", "release", "dev issuer init", "dev token",
                "dev provider", "dev seed",
                "dev user",
            ])
    }

    @Test(arguments: ToolCommand.all) func explainsItselfAndSpeaksJSON(_ command: ToolCommand) throws {
        let outcome = try ChildProcess.run(Repository.program("merganserctl"), command.words + ["--help"])
        #expect(outcome.exit == .status(0))
        #expect(outcome.output.hasPrefix("OVERVIEW: "))
        #expect(outcome.output.contains("--json"))
        #expect(outcome.errorOutput.isEmpty)
    }

    @Test(arguments: ToolCommand.groups.map { $0 }) func groupsListTheirCommands(_ words: [String]) throws {
        for arguments in [words, words + ["--help"]] {
            let outcome = try ChildProcess.run(Repository.program("merganserctl"), arguments)
            #expect(outcome.exit == .status(0))
            #expect(outcome.output.contains("SUBCOMMANDS:"))
        }
    }

    @Test(arguments: ToolCommand.all) func refusesWhatItDoesNotKnow(_ command: ToolCommand) throws {
        let arguments = command.words + command.arguments + ["--no-such-option"]
        let words = try ChildProcess.run(Repository.program("merganserctl"), arguments)
        #expect(words.exit == .status(64))
        #expect(words.errorOutput.hasPrefix("Error: Unknown option '--no-such-option'"))
        #expect(words.output.isEmpty)

        let outcome = try ChildProcess.run(Repository.program("merganserctl"), arguments + ["--json"])
        #expect(outcome.exit == .status(64))
        #expect(try outcome.errorJSON()["error"] == "usage")
        #expect(outcome.output.isEmpty)
    }

    @Test(arguments: ToolCommand.ofTheDatabase) func namesTheVariableThatIsWrong(_ command: ToolCommand) throws {
        // What only one group of commands reads is wrong together with what every other one reads.
        let environment = [
            "MERGANSER_ENVIRONMENT": "neither", "MERGANSER_DATABASE_PORT": "1", "MERGANSER_SERVER_KEY": "s3cret!",
        ]
        let outcome = try ChildProcess.run(
            Repository.program("merganserctl"), command.words + command.arguments + ["--json"], environment: environment
        )
        #expect(outcome.exit == .status(78))
        let error = try outcome.errorJSON()
        #expect(error["error"] == "configuration")
        let problems = try #require(error["problems"]?.array).compactMap(\.string)
        #expect(
            problems.contains {
                $0.contains(#/^MERGANSER_(ENVIRONMENT|DATABASE_PORT|SERVER_KEY): /#)
            })
        #expect(!outcome.errorOutput.contains("s3cret"))
    }

    @Test(
        arguments: ToolCommand.ofTheDatabase.filter {
            !["doctor", "dev issuer init", "dev token", "dev provider"].contains($0.description)
        })
    func saysThatTheDatabaseCannotBeReached(_ command: ToolCommand) throws {
        let installation = try Installation(["MERGANSER_DATABASE_SOCKET": "/nowhere/mariadb.sock"])
        let outcome = try installation.tool(command.words + command.arguments + ["--json"])
        #expect(outcome.exit == .status(69))
        #expect(outcome.output.isEmpty)
        let error = try outcome.errorJSON()
        #expect(error["error"] == "unavailable")
        let message = try #require(error["message"]?.string)
        #expect(message.contains("/nowhere/mariadb.sock") && message.contains("MERGANSER_DATABASE_"), "\(message)")
    }

    @Test(arguments: ToolCommand.all.filter { $0.words[0] == "dev" })
    func developmentCommandsRefuseElsewhere(_ command: ToolCommand) throws {
        let installation = try Installation([
            "MERGANSER_ENVIRONMENT": "production", "MERGANSER_ISSUER": "https://id.example.com",
            "MERGANSER_APPLE_JWKS_URL": "", "MERGANSER_DEV_KEYS_DIRECTORY": "",
        ])
        let before = try installation.database.dump()
        let outcome = try installation.tool(command.words + command.arguments + ["--json"])
        #expect(outcome.exit == .status(1))
        let error = try outcome.errorJSON()
        #expect(error["error"] == "refused")
        #expect(error["message"]?.string?.contains("MERGANSER_ENVIRONMENT=development") == true)
        #expect(try installation.database.dump() == before)
    }

    @Test func warnsOfVariablesNobodyReads() throws {
        let installation = try Installation(["MERGANSER_DATABSE_NAME": "elsewhere"])
        let outcome = try installation.tool("application", "list")
        #expect(outcome.exit == .status(0))
        #expect(
            outcome.errorOutput
                == "merganserctl: warning: MERGANSER_DATABSE_NAME is not a variable of this version and is ignored; "
                + "did you mean MERGANSER_DATABASE_NAME?\n")
        #expect(try installation.tool("application", "list", "--json").errorOutput.isEmpty)
    }

    @Test func saysItsVersion() throws {
        let tool = try ChildProcess.run(Repository.program("merganserctl"), ["--version"])
        let server = try ChildProcess.run(Repository.program("merganserd"), ["--version"])
        #expect(tool.output == server.output)
        // With the commit, if scripts/release built them.
        #expect(tool.output.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+ \((development|[0-9a-f]{12}(-dirty)?)\)\n/) != nil)
    }

    @Test func theChangelogBeginsWithTheVersion() throws {
        let changelog = try String(contentsOfFile: Repository.root + "/CHANGELOG.md", encoding: .utf8)
        let releases = changelog.matches(of: /\n## \[([0-9.]+)\] - [0-9]{4}-[0-9]{2}-[0-9]{2}\n/)
        #expect(releases.first.map { String($0.1) } == Version.current)
    }
}
