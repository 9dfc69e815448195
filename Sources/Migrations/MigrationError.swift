package import MariaDB

/// Why a migration failed or was not finished. Each description says what to do.
package enum MigrationError: Error, Sendable {
    /// The path of a folder or file that cannot be read.
    case unreadable(String)
    /// A file and what is wrong with it.
    case invalidFile(String, String)
    /// The text of a migration was changed after the migration was applied.
    case changed(fileName: String)
    /// The database has a migration for which there is no file.
    case newer(number: Int, name: String)
    /// Another migrator has been running for a minute, or has taken the migration over on another node of a cluster.
    case locked
    case impatientConnection
    /// A statement of a migration failed. Statements are counted from 1.
    case statement(fileName: String, number: Int, MariaDBError)
}

extension MigrationError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let path): "\(path) cannot be read"
        case .invalidFile(let file, let problem): "\(file): \(problem)"
        case .changed(let file):
            "\(file) was applied with another content: restore the file, and put the change into a new migration"
        case .newer(let number, let name):
            "the database has migration \(fourDigits(number))_\(name), for which there is no file: use the newer release"
        case .locked: "another migration is running; try again when it has ended"
        case .impatientConnection: "open the connection with Connection.Options.forMigrations"
        case .statement(let file, let number, let error):
            "\(file), statement \(number): \(error). Earlier statements took effect. Fix the cause and run `migrate up` again"
        }
    }
}
