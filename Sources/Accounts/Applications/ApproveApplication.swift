import JSON
package import MariaDB

extension AccountsTransaction {
    /// Approves a new application, or the pending changes of an application (accounts §2.1). A suspended application
    /// stays suspended.
    ///
    /// - Parameters:
    ///   - revision: the one that the operator saw. Without it, only a new application without pending changes is
    ///     approved.
    ///   - rules: the current ones. They may have changed since the developer asked.
    ///   - approving: whoever approves.
    /// - Throws: `RefusedOperation` if the application has changed since that revision, if nothing is pending, or if a
    ///   pending value breaks a rule.
    package func approveApplication(
        _ clientID: String, revision: String?, by rules: ApprovedChanges.Rules, approving: Operator = .tool
    ) throws -> RegisteredApplication {
        _ = try lock(approving)
        let application = try lockApplication(clientID)
        if revision != nil || !application.pendingChanges.isEmpty { try check(revision, of: application) }
        guard application.awaitsApproval else {
            throw RefusedOperation("\(clientID) is \(application.status.rawValue), and nothing is pending")
        }
        var judged = application.pendingChanges
        if application.status == .pending {
            judged = application.judged
            judged.merge(application.pendingChanges)
        }
        do throws(InvalidApplication) {
            _ = try ApprovedChanges(judged.changes, by: rules)
        } catch {
            throw RefusedOperation("the pending values are not allowed any more: \(error)")
        }

        var approved = application
        approved.apply(application.pendingChanges.changes)
        approved.pendingChanges = PendingChanges()
        if application.status == .pending { approved.status = .active }
        try connection.update(approved)
        audit(
            .applicationApproved, user: nil, actor: approving.actor,
            [
                "client_id": .string(clientID), "status": .string(approved.status.rawValue),
                "from": application.served(application.pendingChanges.members), "to": application.pendingChanges.json,
            ])
        return approved
    }

    /// Discards the pending changes. The values in effect stay.
    ///
    /// - Parameter revision: the one that the operator saw.
    package func refuseChanges(of clientID: String, revision: String) throws -> RegisteredApplication {
        let application = try lockApplication(clientID)
        try check(revision, of: application)
        guard !application.pendingChanges.isEmpty else {
            throw RefusedOperation(
                "\(clientID) has no pending changes; to stop an application, run: merganserctl application set "
                    + "\(clientID) --status suspended")
        }
        var refused = application
        refused.pendingChanges = PendingChanges()
        try connection.update(refused)
        audit(
            .applicationChangesRefused, user: nil, actor: .operator,
            ["client_id": .string(clientID), "refused": application.pendingChanges.json])
        return refused
    }

    private func check(_ revision: String?, of application: RegisteredApplication) throws {
        let look = "`merganserctl application show \(application.clientID)` shows what is pending and its revision"
        guard let revision else { throw RefusedOperation("name the revision that you decide on; \(look)") }
        guard revision.utf8.elementsEqual(application.revision.utf8) else {
            throw RefusedOperation("\(application.clientID) has changed since that revision; \(look)")
        }
    }
}

extension RegisteredApplication {
    fileprivate func served(_ members: [PendingChanges.Member]) -> JSONValue {
        .object(JSONObject(members.map { ($0.rawValue, judged.values[$0] ?? .null) }))
    }
}

extension Connection {
    /// How many applications are pending or have pending changes.
    package func applicationsAwaitingApproval() throws -> Int {
        try first("SELECT COUNT(*) FROM applications WHERE status = 'pending' OR pending_changes IS NOT NULL") { row in
            try row.read()
        } ?? 0
    }
}
