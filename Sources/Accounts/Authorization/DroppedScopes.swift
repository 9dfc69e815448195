import JSON

extension AccountsTransaction {
    /// Has the audit log tell of scopes that were left out, if the application's policy is to alert (accounts §2.2).
    package func noteDropped(_ dropped: Scopes, for application: Application) {
        if dropped.isEmpty || application.scopePolicy != .alert { return }
        audit(
            .scopeDropped, user: nil, actor: .application(application.id),
            ["client_id": .string(application.clientID), "scopes": .string(dropped.text)])
    }
}
