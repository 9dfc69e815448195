import MariaDB
import TestSupport

extension TestDatabase {
    /// An empty schema with what `script` makes.
    convenience init(_ script: String) throws {
        try self.init(migrated: false)
        try connect().executeScript(script)
    }
}
