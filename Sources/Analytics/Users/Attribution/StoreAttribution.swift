package import Database
import MariaDB

extension Analytics {
    /// Merges an attribution's properties into the properties of whoever the id belongs to by now (analytics §7).
    package func store(
        _ properties: [Properties.Entry], of user: EndUserID, in project: Project.ID, _ database: Database
    ) throws {
        let changes = PropertyChanges(properties)
        try write(database) { transaction in
            guard let owner = try transaction.lockOwner(of: user, in: project, orCreate: NewRecord()) else { return }
            _ = try transaction.setProperties(changes, of: owner, isCapped: false)
        }
    }
}
