import Accounts
import ArgumentParser
import Configuration
import Database
import JSON
import Migrations

struct RotateServerKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Seals all values of the previous server key again with the new one.",
        discussion: """
            Opens every value that is still sealed with MERGANSER_SERVER_KEY_PREVIOUS, and seals it with \
            MERGANSER_SERVER_KEY. Prints how many there were in each table. Changes at most \(SealedColumn.batch) values in \
            each transaction, while servers run. If a run is interrupted, the next one continues. Extra runs do no harm. Every instance must have both keys before; docs/deployment.md \
            describes the whole procedure.
            """)

    @OptionGroup var job: Job
    @OptionGroup var output: Output

    func run() throws {
        let serverKey = try Environment.serverKey()
        let database = Database(try Environment.databaseSettings().connection.forMigrations)
        if let foreign = try database.read({ try $0.foreignSeal(to: serverKey) }) {
            throw ToolError(.refused, foreign.description)
        }
        var counts = SealedColumn.all.map { (column: $0, count: 0) }
        // Values move between tables as they are: a token of Apple between its identity and the queue of revocations. One
        // that moves to where this run has been is found by another round.
        var hasResealed = true
        while hasResealed {
            hasResealed = false
            for index in counts.indices {
                let count = try reseal(counts[index].column, serverKey, database)
                counts[index].count += count
                if count > 0, !job.isDryRun { hasResealed = true }
            }
        }
        let words = counts.map { (name: "\($0.column.table)", count: $0.count) }
        output.print(
            Result(
                dryRun: job.isDryRun,
                resealed: .object(JSONObject(words.map { ($0.name, .integer(Int64($0.count))) }))),
            job.words(words.map { ($0.name, "\($0.count)") }) + (job.isDryRun ? "" : "\n" + Self.next))
    }

    private func reseal(_ column: SealedColumn, _ serverKey: ServerKey, _ database: Database) throws -> Int {
        var total = 0
        var position: SealedRow.Position?
        while true {
            let batch = try Accounts.write(database, from: .command) {
                try $0.reseal(column, after: position, serverKey, isDryRun: job.isDryRun)
            }
            guard let batch else { return total }
            total += batch.count
            position = batch.position
            output.progress("\(column.table): \(total) …")
            job.pause()
        }
    }

    private static let next = """
        All values that MERGANSER_SERVER_KEY_PREVIOUS had sealed before this run began are sealed with the new key. \
        If every instance already had MERGANSER_SERVER_KEY at that time, unset the previous key and restart them. \
        Otherwise run this command again when they have it.
        """

    private struct Result: Encodable {
        let dryRun: Bool
        /// Values by table.
        let resealed: JSONValue
    }
}
