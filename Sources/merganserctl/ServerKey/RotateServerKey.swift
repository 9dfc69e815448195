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
            Opens values with MERGANSER_SERVER_KEY_PREVIOUS and seals them with MERGANSER_SERVER_KEY: private \
            signing keys, webhook keys, stored answers, and sign-ins under way. Changes at most \
            \(SealedValues.batch) values in each transaction, while servers run. If a run is interrupted, the next \
            one continues. Extra runs do no harm. Every instance must have both keys before; docs/deployment.md \
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
        let counts = try SealedValues.allCases.map { values in
            (values, try reseal(values, serverKey, database))
        }
        output.print(
            Result(
                dryRun: job.isDryRun,
                resealed: .object(JSONObject(counts.map { ($0.rawValue, .integer(Int64($1))) }))),
            job.words(counts.map { ($0.rawValue, "\($1)") }) + (job.isDryRun ? "" : "\n" + Self.next))
    }

    private func reseal(_ values: SealedValues, _ serverKey: ServerKey, _ database: Database) throws -> Int {
        var total = 0
        var position: SealedValues.Position?
        while true {
            let batch = try Accounts.write(database, from: .command) {
                try $0.reseal(values, after: position, serverKey, isDryRun: job.isDryRun)
            }
            guard let batch else { return total }
            total += batch.count
            position = batch.position
            output.progress("\(values.rawValue): \(total) …")
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
