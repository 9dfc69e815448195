package import Database
package import Time

extension Analytics {
    /// `POST /v1/questionnaires/dismiss` (analytics §12): the user is asked nothing any more, in any app of the project.
    package func dismissQuestionnaires(
        for userID: EndUserID, in app: App, _ database: Database
    ) throws -> Timestamp {
        try write(database) { transaction in
            let owner = try transaction.lockOwner(of: userID, in: app.project.id, making: NewRecord())
            _ = try transaction.setProperties(
                PropertyChanges([(Properties.dismissedAt, transaction.now.iso8601Milliseconds)]), of: owner,
                isCapped: false)
            return transaction.now
        }
    }
}
