import JSON

extension AccountsTransaction {
    /// Has the audit log tell of scopes that were left out, if the application's policy is to alert (accounts §2.2).
    ///
    /// Anybody can have scopes dropped: of many times in an hour the first few are told, and a few names of each.
    /// Call it after users are locked.
    package func noteDropped(_ dropped: Scopes, for application: Application) throws {
        if dropped.isEmpty || application.scopePolicy != .alert { return }
        let subject = "\(application.id.rawValue)"
        // Read first: who is above the limit waits for nobody's counter.
        if try isReached(.droppedScopes, for: subject) { return }
        if try count(.droppedScopes, for: subject) != nil { return }
        audit(
            .scopeDropped, user: nil, actor: .application(application.id),
            ["client_id": .string(application.clientID), "scopes": .string(dropped.summary)])
    }
}
