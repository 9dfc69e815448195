import AnalyticsJobs
import ArgumentParser
import Configuration
import Database
import Migrations

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks the rules of the analytics tables, and lists rows that break one.",
        discussion: """
            Reads the tables from end to end, while servers run, and changes nothing. Lists at most \(Violation.limit) \
            rows for each rule. The exit status is 1 if a rule is broken.
            """)

    @OptionGroup var output: Output

    func run() throws {
        let database = Database(try Environment.databaseSettings().connection.forMigrations)
        let violations = try Verification.run(database) { output.meter($0.meaning) }
        output.print(
            Result(clean: violations.isEmpty, violations: violations.map(ViolationBody.init)),
            violations.isEmpty
                ? "clean: \(Invariant.allCases.count) rules hold"
                : violations.map(words).joined(separator: "\n"))
        if !violations.isEmpty { throw ExitCode.failure }
    }

    private func words(of violation: Violation) -> String {
        let heading = "broken: \(violation.invariant.meaning) (\(violation.invariant.rawValue))"
        return ([heading] + violation.rows.map { "  \($0)" }).joined(separator: "\n")
    }

    private struct Result: Encodable {
        let clean: Bool
        let violations: [ViolationBody]
    }

    private struct ViolationBody: Encodable {
        let rule: String
        let meaning: String
        let rows: [String]

        init(_ violation: Violation) {
            rule = violation.invariant.rawValue
            meaning = violation.invariant.meaning
            rows = violation.rows
        }
    }
}
