import JSON
import MariaDB

extension Accounts {
    /// Sends to the application's receiver again, and forgets that it failed (accounts §3.4). What is due is sent at once.
    ///
    /// - Throws: `notFound` unless the developer owns it.
    package func enableWebhook(
        _ clientID: String, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> RegisteredApplication {
        try transaction.enableWebhook(
            of: try transaction.lockApplication(clientID, of: caller), user: caller.id, actor: caller.actor)
    }
}

extension AccountsTransaction {
    /// The same for the installation.
    ///
    /// - Throws: `RefusedOperation` if there is no such application; `adminRequired` as `lock` does.
    package func enableWebhook(_ clientID: String, by changer: Operator = .tool) throws -> RegisteredApplication {
        _ = try lock(changer)
        return try enableWebhook(of: try lockApplication(clientID), user: nil, actor: changer.actor)
    }

    /// - Parameter application: locked.
    fileprivate func enableWebhook(
        of application: RegisteredApplication, user: User.ID?, actor: AuditEntry.Actor
    ) throws -> RegisteredApplication {
        try forgetWebhookFailures(of: application.id)
        wakeDispatchers()
        if application.webhookDisabledAt == nil { return application }
        try connection.execute("UPDATE applications SET webhook_disabled_at = NULL WHERE id = ?", application.id)
        audit(.webhookEnabled, user: user, actor: actor, ["client_id": .string(application.clientID)])
        var enabled = application
        enabled.webhookDisabledAt = nil
        return enabled
    }
}
