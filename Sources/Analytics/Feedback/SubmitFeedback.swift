package import Database
package import Time

extension Analytics {
    /// `POST /v1/feedback` (analytics §10): one row under its resolved owner.
    package func submit(
        _ feedback: Feedback, from app: App, country: String?, _ database: Database
    ) throws -> (id: Feedback.ID, createdAt: Timestamp) {
        try write(database) { transaction in
            let owner = try feedback.userID.map { id in
                try transaction.lockOwner(
                    of: id, in: app.project.id, making: feedback.client.newRecord(for: app.platform))
            }
            let id = Feedback.ID(at: transaction.now)
            try transaction.insert(feedback, id, of: owner?.id, from: app, country: country)
            return (id, transaction.now)
        }
    }
}
