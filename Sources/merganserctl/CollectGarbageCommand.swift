import Accounts
import ArgumentParser
import JSON

struct CollectGarbageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc",
        abstract: "Deletes rows that are no longer needed, and counts users and days for administrators.",
        discussion: """
            Deletes expired idempotency records, swap tickets, web sessions, refresh tokens, codes and unfinished \
            sign-ins; counters of limits; old sign-ins (MERGANSER_LOGIN_HISTORY_DAYS); PAKs and refresh families that \
            ended a month ago; journals of merges and swaps that can no longer be undone (MERGANSER_UNDO_DAYS, also if it \
            was lowered since); events a month old; week-old records of webhook attempts; logout tokens that nobody \
            tried to send for a day; copies of token answers; and parts of replaced signing keys: the private part a day \
            after the next key began to sign, the public part after 90 days. Deletes at most 500 rows in each \
            transaction, while servers run. Then it counts what the front page of administration shows: users, and what \
            happened on each of the last 30 days. A timer runs it hourly.
            """)

    @OptionGroup var output: Output

    func run() throws {
        let loginHistory = try Environment.loginHistoryLifetime()
        let undoWindow = try Environment.undoWindow()
        let database = try Environment.database()
        var deleted: [(String, Int)] = []
        for kind in Garbage.allCases {
            var count = 0
            while true {
                let batch = try Accounts.write(database, from: .command) {
                    try $0.collect(kind, loginHistory: loginHistory, undoWindow: undoWindow)
                }
                count += batch
                if batch < kind.batch { break }
                output.progress("\(kind.rawValue): \(count) …")
            }
            deleted.append((kind.rawValue, count))
        }
        let days = try Accounts.countDays(database, from: .command)
        output.print(
            JSONValue.object(
                JSONObject([
                    ("deleted", .object(JSONObject(deleted.map { ($0, .integer(Int64($1))) }))),
                    ("counted_days", .integer(Int64(days))),
                ])),
            (deleted + [("counted days", days)]).map { "\($0.padded(to: 22)) \($1)" }.joined(separator: "\n"))
    }
}
