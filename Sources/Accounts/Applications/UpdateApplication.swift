import JSON
package import MariaDB
package import Time

extension Accounts {
    /// An application of the developer's own.
    ///
    /// - Throws: `notFound` for those of others, too.
    package func application(
        _ clientID: String, of caller: Caller, _ connection: Connection
    ) throws -> RegisteredApplication {
        guard let application = try connection.registeredApplication(clientID), application.owner == caller.id else {
            throw Failure.notFound
        }
        return application
    }

    /// Changes what a developer may change (accounts §2.1).
    ///
    /// - Throws: `notFound` unless it is the developer's own.
    package func updateApplication(
        _ clientID: String, _ changes: ApprovedChanges, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> RegisteredApplication {
        let application = try transaction.lockApplication(clientID, of: caller)
        return try transaction.change(application, changes, user: caller.id, actor: caller.actor)
    }

    /// Makes a new client secret.
    ///
    /// - Parameter immediately: whether the secret so far stops working at once, instead of in 24 hours.
    /// - Returns: the secret, which only this answer shows, and until when the one before works.
    /// - Throws: `notFound` unless it is the developer's own; `invalidRequest` for a public client, which has none.
    package func rotateSecret(
        of clientID: String, immediately: Bool, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> (secret: String, previousExpiresAt: Timestamp?) {
        let application = try transaction.lockApplication(clientID, of: caller)
        guard application.clientType == .confidential else { throw Failure.invalidRequest }
        return try transaction.rotateSecret(
            of: application, immediately: immediately, user: caller.id, actor: caller.actor)
    }

    /// Adds a webhook key, with which events are signed from now on; the ones so far stay valid.
    ///
    /// - Throws: `notFound` unless it is the developer's own.
    package func addWebhookKey(
        to clientID: String, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> WebhookKey {
        let application = try transaction.lockApplication(clientID, of: caller)
        return try transaction.addWebhookKey(to: application, actor: caller.actor, serverKey: serverKey)
    }
}

extension AccountsTransaction {
    fileprivate func lockApplication(_ clientID: String, of caller: Caller) throws -> RegisteredApplication {
        try lockDeveloper(caller)
        guard let application = try connection.lockApplication(clientID), application.owner == caller.id else {
            throw Failure.notFound
        }
        return application
    }

    /// - Parameter application: locked.
    func change(
        _ application: RegisteredApplication, _ approved: ApprovedChanges, user: User.ID?, actor: AuditEntry.Actor
    ) throws -> RegisteredApplication {
        var application = application
        application.apply(approved)
        let columns = approved.changes.columns
        if !columns.isEmpty {
            try connection.update(application)
            audit(
                .applicationUpdated, user: user, actor: actor,
                [
                    "client_id": .string(application.clientID),
                    "changed": .array(columns.map(JSONValue.string)),
                ])
        }
        return application
    }

    /// - Parameter application: locked, and confidential.
    func rotateSecret(
        of application: RegisteredApplication, immediately: Bool, user: User.ID?, actor: AuditEntry.Actor
    ) throws -> (secret: String, previousExpiresAt: Timestamp?) {
        let secret = Secret.forClient()
        let previousExpiresAt = immediately ? nil : now + .seconds(86_400)
        try connection.execute(
            """
            UPDATE applications
            SET previous_secret_digest = IF(? IS NULL, NULL, secret_digest), previous_secret_expires_at = ?,
                secret_digest = ?
            WHERE id = ?
            """, previousExpiresAt, previousExpiresAt, secret.digest, application.id)
        audit(
            .applicationSecretRotated, user: user, actor: actor,
            ["client_id": .string(application.clientID), "immediate": .bool(immediately)])
        return (secret.text, previousExpiresAt)
    }
}
