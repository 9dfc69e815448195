import Analytics
import AnalyticsJobs
import ArgumentParser
import Configuration
import Database
import MariaDB
import Migrations
import Time

struct Migrate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Updates the database's schema to this release.",
        discussion: """
            Each migration is a file NNNN_what.sql in MERGANSER_SQL_DIRECTORY. Migrations only go forward. You need \
            not stop the servers, because a migration works with the release before it.
            """,
        subcommands: [Up.self, Status.self, Plan.self, Schema.self])

    /// The migrations, and a connection whose time-outs suit them.
    ///
    /// - Parameter directory: the folder of the migrations; without it, MERGANSER_SQL_DIRECTORY.
    static func open(_ directory: String? = nil) throws -> (migrator: Migrator, connection: Connection) {
        let settings = try Environment.databaseSettings()
        return (
            try Migrator(directory: directory ?? settings.sqlDirectory),
            try Connection(settings.connection.forMigrations)
        )
    }

    /// Applies the pending migrations, and creates the partitions of the next months.
    ///
    /// - Parameter directory: the folder of the migrations; without it, MERGANSER_SQL_DIRECTORY.
    /// - Returns: the names of the files that were applied, and the number of all.
    @discardableResult
    static func up(_ output: Output, from directory: String? = nil) throws -> (applied: [String], version: Int) {
        let (migrator, connection) = try open(directory)
        let pending = try migrator.status(connection).pending.map(\.fileName)
        try migrator.up(connection) { output.progress($0) }
        let database = Database(connection.options)
        for table in EventTable.allCases { try Retention(of: table, say: output.progress).makeMonths(database) }
        return (pending, migrator.migrations.count)
    }
}

extension Migrate {
    struct Up: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Applies the pending migrations.",
            discussion:
                """
                An interrupted migration continues where it stopped. If another run is under way, this one waits, \
                and then finds nothing to do. The command also creates the partitions of the event tables for the \
                next months, as `retention` does.
                """)

        @OptionGroup var output: Output

        func run() throws {
            let (applied, version) = try Migrate.up(output)
            output.print(
                Result(applied: applied, version: version),
                applied.isEmpty ? "nothing to do" : "applied \(applied.count)")
        }

        private struct Result: Encodable {
            let applied: [String]
            let version: Int
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lists every migration with its state.",
            discussion: "The exit status is 1 unless all migrations are applied and unchanged, and newer ones fit.")

        @OptionGroup var output: Output

        func run() throws {
            let (migrator, connection) = try Migrate.open()
            let status = try migrator.status(connection)
            let steps = migrator.migrations.map { Step($0, status) } + status.newer.map(Step.init)
            output.print(
                Result(current: status.isCurrent, steps: steps),
                steps.map { "\($0.state.padded(to: 12)) \($0.name)" }.joined(separator: "\n"))
            if !status.isCurrent { throw ExitCode.failure }
        }

        private struct Result: Encodable {
            let current: Bool
            let steps: [Step]
        }

        private struct Step: Encodable {
            let number: Int
            let name: String
            /// applied, pending, interrupted, changed (the file was changed after it was applied) or newer (there is no
            /// such file).
            let state: String
            let finishedAt: String?

            init(_ migration: Migration, _ status: MigrationStatus) {
                number = migration.number
                name = migration.fileName
                finishedAt = status.applied.first { $0.number == migration.number }?.finishedAt?.iso8601
                state =
                    if status.changed.contains(where: { $0.number == migration.number }) {
                        "changed"
                    } else if status.interrupted?.number == migration.number {
                        "interrupted"
                    } else {
                        status.pending.contains { $0.number == migration.number } ? "pending" : "applied"
                    }
            }

            init(_ newer: AppliedMigration) {
                number = newer.number
                name = newer.name
                state = "newer"
                finishedAt = newer.finishedAt?.iso8601
            }
        }
    }

    struct Plan: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Prints the SQL that `up` would run.")

        @OptionGroup var output: Output

        func run() throws {
            let (migrator, connection) = try Migrate.open()
            let pending = try migrator.status(connection).pending
            output.print(
                Result(steps: pending.map { Step(name: $0.fileName, sql: $0.sql) }),
                pending.isEmpty
                    ? "-- nothing to do"
                    : pending.map { "-- \($0.fileName)\n\n\($0.sql)" }.joined(separator: "\n"))
        }

        private struct Result: Encodable {
            let steps: [Step]
        }

        private struct Step: Encodable {
            let name: String
            let sql: String
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints the database's schema as SQL.",
            discussion: "`make schema` creates sql/schema.sql with this command.")

        @OptionGroup var output: Output

        func run() throws {
            let schema = try Environment.database().read { try SchemaText.render($0) }
            output.print(["schema": schema], schema.trimmingNewlines)
        }
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    var trimmingNewlines: String { hasSuffix("\n") ? String(dropLast()) : self }
}
