package import Database
package import Time

extension Analytics {
    /// `POST /v1/questionnaires/dismiss` (analytics §12): no app of the project shows the user a questionnaire from now
    /// on.
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
