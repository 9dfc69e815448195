package import MariaDB
package import Time

/// A fault that was seen in an application's authorize requests. `/diagnose` shows it (accounts §2.12).
package enum AuthorizationFault: String, Sendable, CaseIterable {
    case pkceMissing = "pkce_missing"
    case openidMissing = "openid_missing"
    /// A scope was dropped because the application may not have it (accounts §2.5).
    case scopeDropped = "scope_dropped"

    /// How long `/diagnose` shows a fault.
    package static let memory = Duration.seconds(86_400)
    /// How long token answers warn about a dropped scope.
    private static let driftMemory = Duration.seconds(7 * 86_400)

    /// - Parameter droppedAt: when a scope was last dropped, if ever.
    static func isDrift(_ droppedAt: Timestamp?, at now: Timestamp) -> Bool {
        droppedAt.map { now < $0 + driftMemory } ?? false
    }
}

extension Connection {
    /// Records that a fault was seen, at most once a minute. If the row is locked, nothing is recorded: a later request
    /// will record it.
    package func noteFault(_ fault: AuthorizationFault, of application: Application.ID, at now: Timestamp) throws {
        try execute(
            """
            SET STATEMENT innodb_lock_wait_timeout = 0 FOR
            INSERT INTO application_faults (application_id, fault, last_seen_at)
            SELECT ?, ?, ? FROM DUAL WHERE NOT EXISTS (
                SELECT 1 FROM application_faults WHERE application_id = ? AND fault = ? AND last_seen_at > ?
            )
            ON DUPLICATE KEY UPDATE last_seen_at = GREATEST(last_seen_at, VALUES(last_seen_at))
            """, application, fault.rawValue, now, application, fault.rawValue, now - .seconds(60))
    }

    /// The faults seen since then.
    package func faults(of application: Application.ID, since: Timestamp) throws -> Set<AuthorizationFault> {
        Set(
            try all(
                "SELECT fault FROM application_faults WHERE application_id = ? AND last_seen_at > ?", application, since
            ) { row in AuthorizationFault(rawValue: try row.read()) }.compactMap { $0 })
    }
}

extension AuthorizationParameters {
    /// The faults of a request of a known application, whether it succeeded or not.
    ///
    /// - Parameter dropped: scopes that the answer lacks.
    package func faults(dropped: Scopes) -> [AuthorizationFault] {
        var faults: [AuthorizationFault] = []
        if self["code_challenge"] == nil || self["code_challenge_method"] != "S256" { faults.append(.pkceMissing) }
        if !Scopes(self["scope"] ?? "").contains("openid") { faults.append(.openidMissing) }
        if !dropped.isEmpty { faults.append(.scopeDropped) }
        return faults
    }
}
