import JSON

extension Accounts {
    /// Sends the application's receiver an event that says nothing, whatever types it asked for (accounts §3.4).
    ///
    /// - Throws: `notFound` unless the developer owns it; `invalidRequest` if it has no webhook_url; `rateLimited` after
    ///   60 in an hour.
    package func testWebhook(_ clientID: String, by caller: Caller, in transaction: AccountsTransaction) throws {
        let application = try transaction.lockApplication(clientID, of: caller)
        if application.webhookURL == nil { throw Failure.invalidRequest }
        if let wait = try transaction.count(.webhookTests, for: clientID) {
            throw Failure.rateLimited(retryAfter: wait)
        }
        transaction.emit(.webhookTest(to: application.id))
    }
}

extension Event {
    static func webhookTest(to application: Application.ID) -> Event {
        Event(application: application, kind: .webhookTest, data: [:])
    }
}
