import MariaDB
import OpenSSL
package import Time

/// The principal of every request to the analytics surface.
package struct APIKey: Sendable {
    package typealias ID = EntityID<APIKey>

    package enum Kind: String, Sendable, CaseIterable, Bindable, Readable {
        case client, `import`, agent

        /// The prefix of this kind's secrets.
        package var prefix: String { "owl_\(rawValue)_" }
    }

    package var id: ID
    package var kind: Kind
    package var permissions: Set<Permission>
    package var team: Team.ID
    /// Nil for an agent key.
    package var app: App?
    package var lastUsedAt: Timestamp?
    package var expiresAt: Timestamp?
    /// That of all keys when this one was read. It changes with every change of a key, an app or a project that matters to
    /// a key.
    var version: Int

    /// The digest under which a secret is stored.
    static func digest(of secret: String) -> [UInt8] { sha256(secret.utf8) }

    /// - Throws: `forbidden`, which names the missing permission (§2.5).
    package func require(_ permissions: Permission...) throws(Refusal) {
        let missing = permissions.filter { !self.permissions.contains($0) }
        guard let first = missing.first else { return }
        throw .forbidden(
            missing.count == 1
                ? "Missing permission: \(first.rawValue)"
                : "Missing permissions: \(missing.map(\.rawValue).joined(separator: ", "))")
    }

    /// The app of a client key, for the identity routes (§5, §6, §7).
    package func liveApp() throws(Refusal) -> App {
        guard kind == .client, let app else { throw .invalid("Client key must be scoped to an app") }
        guard app.isLive else { throw .invalid("App not found") }
        return app
    }

    /// The app of a key of any kind, even a deleted app.
    package func scopedApp() throws(Refusal) -> App {
        guard let app else { throw .invalid("API key must be scoped to an app") }
        return app
    }

    /// The live app of a key of any kind, for events and what accompanies them (§8.1, checks 3 and 4).
    package func ingestApp() throws(Refusal) -> App {
        let app = try scopedApp()
        guard app.isLive else { throw .invalid("App associated with this API key no longer exists") }
        return app
    }
}

/// What a key may do (analytics §2.5).
package enum Permission: String, Sendable, CaseIterable {
    case eventsRead = "events:read"
    case eventsWrite = "events:write"
    case funnelsRead = "funnels:read"
    case metricsRead = "metrics:read"
    case appsRead = "apps:read"
    case projectsRead = "projects:read"
    case feedbackRead = "feedback:read"
    case feedbackWrite = "feedback:write"
    case questionnairesRead = "questionnaires:read"
    case questionnairesWrite = "questionnaires:write"
    case usersWrite = "users:write"
}
