import JSON

extension AccountsTransaction {
    /// Writes dropped scopes to the audit log, if the application's policy is to alert (accounts §2.2).
    ///
    /// Anyone can send requests with such scopes, so only the first few in an hour are written, each with a few of the
    /// names. Call this after users are locked.
    package func noteDropped(_ dropped: Scopes, for application: Application) throws {
        if dropped.isEmpty || application.scopePolicy != .alert { return }
        let subject = "\(application.id.rawValue)"
        // Read without a lock first, so that requests above the limit do not wait for the counter's row.
        if try isReached(.droppedScopes, for: subject) { return }
        if try count(.droppedScopes, for: subject) != nil { return }
        audit(
            .scopeDropped, user: nil, actor: .application(application.id),
            ["client_id": .string(application.clientID), "scopes": .string(dropped.summary)])
    }
}
