package import Database
import MariaDB
package import Time

extension Analytics {
    /// `POST /v1/feedback` (analytics §10): stores one row under its owner.
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

extension AnalyticsTransaction {
    fileprivate func insert(
        _ feedback: Feedback, _ id: Feedback.ID, of owner: Record.ID?, from app: App, country: String?
    ) throws {
        let client = feedback.client
        try connection.execute(
            """
            INSERT INTO feedback (id, app_id, project_id, session_id, app_user_id, message, submitter_name,
                                  submitter_email, is_dev, environment, os_version, app_version, sdk_name, sdk_version,
                                  device_model, country_code, created_at, updated_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, id, app.id, app.project.id, feedback.sessionID, owner, feedback.message, feedback.submitterName,
            feedback.submitterEmail, client.isDev, client.environment, client.osVersion, client.appVersion,
            client.sdkName, client.sdkVersion, client.deviceModel, country, now, now)
    }
}
