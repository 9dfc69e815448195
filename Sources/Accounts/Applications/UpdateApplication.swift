import JSON
package import MariaDB
package import Time

extension Accounts {
    /// One of the developer's own applications.
    ///
    /// - Throws: `notFound`, also for another developer's application.
    package func application(
        _ clientID: String, of caller: Caller, _ connection: Connection
    ) throws -> RegisteredApplication {
        guard let application = try connection.registeredApplication(clientID), application.owner == caller.id else {
            throw Failure.notFound
        }
        return application
    }

    /// Changes what a developer may change (accounts §2.1). Settings that need approval wait for the operator again.
    /// Only a pending application, which no one can use yet, changes at once; a suspended one does not.
    ///
    /// - Throws: `notFound` unless the developer owns it.
    package func updateApplication(
        _ clientID: String, _ changes: ApprovedChanges, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> RegisteredApplication {
        let application = try transaction.lockApplication(clientID, of: caller)
        let waits = application.status != .pending && !settings.autoApprovesApplications
        return try transaction.change(application, changes, waits: waits, user: caller.id, actor: caller.actor)
    }

    /// Makes a new client secret.
    ///
    /// - Parameter immediately: whether the previous secret stops working at once, and not in 24 hours.
    /// - Returns: the new secret, which is shown only once, and how long the previous one works.
    /// - Throws: `notFound` unless the developer owns it; `invalidRequest` for a public client, which has none.
    package func rotateSecret(
        of clientID: String, immediately: Bool, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> (secret: String, previousExpiresAt: Timestamp?) {
        let application = try transaction.lockApplication(clientID, of: caller)
        guard application.clientType == .confidential else { throw Failure.invalidRequest }
        return try transaction.rotateSecret(
            of: application, immediately: immediately, user: caller.id, actor: caller.actor)
    }

    /// Adds a webhook key. From now on events are signed with it; the older keys stay valid.
    ///
    /// - Throws: `notFound` unless the developer owns it.
    package func addWebhookKey(
        to clientID: String, by caller: Caller, in transaction: AccountsTransaction
    ) throws -> WebhookKey {
        let application = try transaction.lockApplication(clientID, of: caller)
        return try transaction.addWebhookKey(to: application, actor: caller.actor, serverKey: serverKey)
    }
}

extension AccountsTransaction {
    /// An application of the developer's own, locked.
    ///
    /// - Throws: `notFound`, also for another developer's application.
    func lockApplication(_ clientID: String, of caller: Caller) throws -> RegisteredApplication {
        try lockDeveloper(caller)
        guard let application = try connection.lockApplication(clientID), application.owner == caller.id else {
            throw Failure.notFound
        }
        return application
    }

    /// - Parameters:
    ///   - application: locked.
    ///   - waits: whether settings that need approval become pending changes.
    func change(
        _ application: RegisteredApplication, _ approved: ApprovedChanges, waits: Bool = false, user: User.ID?,
        actor: AuditEntry.Actor
    ) throws -> RegisteredApplication {
        let immediate = waits ? approved.changes.unjudged : approved.changes
        let judged = PendingChanges(of: approved.changes)
        var changed = application
        changed.apply(immediate)
        if waits {
            changed.pendingChanges.merge(judged)
        } else {
            changed.pendingChanges.remove(judged.members)
        }
        changed.pendingChanges.remove(whatIs: changed.judged)
        let isPendingChanged = changed.pendingChanges != application.pendingChanges
        let columns = immediate.columns
        if columns.isEmpty && !isPendingChanged { return application }

        try connection.update(changed)
        if changed.webhookURL != application.webhookURL { try forgetWebhookFailures(of: changed.id) }
        let clientID = JSONValue.string(changed.clientID)
        func names(_ names: [String]) -> JSONValue { .array(names.map(JSONValue.string)) }
        if !columns.isEmpty {
            audit(
                .applicationUpdated, user: user, actor: actor, ["client_id": clientID, "changed": names(columns)])
        }
        if waits && isPendingChanged {
            audit(
                changed.pendingChanges.isEmpty ? .applicationChangesWithdrawn : .applicationChangesRequested,
                user: user,
                actor: actor,
                [
                    "client_id": clientID, "pending": names(changed.pendingChanges.members.map(\.rawValue)),
                    "revision": .string(changed.revision),
                ])
        }
        return changed
    }

    /// - Parameter application: locked; a confidential client.
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
