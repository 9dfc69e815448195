import Accounts
import ArgumentParser
import Configuration
import JSON

struct CollectGarbageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc", abstract: "Deletes rows that have outlived their use.",
        discussion: """
            Expired idempotency records, swap tickets, web sessions, refresh tokens, codes and sign-ins that were \
            begun, counters of limits, old sign-ins (MERGANSER_LOGIN_HISTORY_DAYS), PAKs revoked and refresh families \
            ended a month ago, copies of token answers, and what signing keys leave behind: the private part a day, the \
            public one 90 days after the next key began to sign. At most 500 rows a transaction, beside the running \
            servers. A timer runs it hourly.
            """)

    @OptionGroup var output: Output

    func run() throws {
        let loginHistory = try Environment.loginHistoryLifetime()
        let database = try Environment.database()
        var deleted: [(String, Int)] = []
        for kind in Garbage.allCases {
            var count = 0
            while true {
                let batch = try Accounts.write(database, from: .command) {
                    try $0.collect(kind, loginHistory: loginHistory)
                }
                count += batch
                if batch < Garbage.batch { break }
                output.progress("\(kind.rawValue): \(count) …")
            }
            deleted.append((kind.rawValue, count))
        }
        output.print(
            ["deleted": JSONValue.object(JSONObject(deleted.map { ($0, .integer(Int64($1))) }))],
            deleted.map { "\($0.padded(to: 22)) \($1)" }.joined(separator: "\n"))
    }
}
