import Analytics
import HTTP
import JSON
import MariaDB
import OpenSSL
import TestSupport
import Time

/// A project with apps and keys, and requests as its SDKs send them.
final class AnalyticsScene: Sendable {
    let app: TestApp
    let team: UUID
    let project: UUID
    /// Of platform `apple`, bundle `com.example`.
    let appID: UUID
    let clientKey: String
    let importKey: String
    /// Has every permission that an agent may have.
    let agentKey: String

    /// - Parameters:
    ///   - team: an existing one to put the project into.
    init(_ app: TestApp, team: UUID? = nil, platform: AppPlatform = .apple, bundleID: String? = "com.example") throws {
        self.app = app
        let now = app.time.now
        self.team = team ?? UUID(at: now)
        project = UUID(at: now)
        appID = UUID(at: now)
        (clientKey, importKey, agentKey) = (freshSecret(.client), freshSecret(.import), freshSecret(.agent))
        if team == nil {
            try app.change("INSERT INTO teams (id, name, created_at) VALUES (?, 'Team', ?)", self.team, now)
        }
        try app.change(
            "INSERT INTO projects (id, team_id, name, slug, created_at) VALUES (?, ?, 'Project', ?, ?)", project,
            self.team, "\(project)", now)
        try makeApp(id: appID, platform: platform, bundleID: bundleID)
        try makeKey(.client, secret: clientKey)
        try makeKey(.import, secret: importKey)
        try makeKey(.agent, secret: agentKey)
    }

    /// Another app of the project.
    ///
    /// - Returns: its id and a client key of it.
    @discardableResult
    func makeApp(platform: AppPlatform = .apple, bundleID: String? = nil) throws -> (id: UUID, clientKey: String) {
        let (id, key) = (UUID(at: app.time.now), freshSecret(.client))
        try makeApp(id: id, platform: platform, bundleID: bundleID)
        try makeKey(.client, secret: key, app: id)
        return (id, key)
    }

    private func makeApp(id: UUID, platform: AppPlatform, bundleID: String?) throws {
        try app.change(
            """
            INSERT INTO apps (id, team_id, project_id, name, platform, bundle_id, created_at)
            VALUES (?, ?, ?, 'App', ?, ?, ?)
            """, id, team, project, platform, bundleID, app.time.now)
    }

    /// A new key. It has its kind's default permissions unless others are given.
    @discardableResult
    func makeKey(
        _ kind: APIKey.Kind, permissions: [Permission]? = nil, secret: String? = nil, app id: UUID? = nil,
        expiresAt: Timestamp? = nil
    ) throws -> String {
        let secret = secret ?? freshSecret(kind)
        let preset: [Permission] =
            kind == .agent ? Permission.allCases.filter { $0 != .eventsWrite } : [.eventsWrite, .usersWrite]
        try app.change(
            """
            INSERT INTO api_keys (id, secret_sha256, key_type, prefix, last4, app_id, team_id, name, permissions,
                                  expires_at, created_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, 'Key', ?, ?, ?)
            """, UUID(at: app.time.now), sha256(secret.utf8), kind, kind.prefix, String(secret.suffix(4)),
            kind == .agent ? nil : id ?? appID, team,
            String(decoding: (permissions ?? preset).map(\.rawValue).json(), as: UTF8.self), expiresAt, app.time.now)
        return secret
    }

    // MARK: Looking

    /// The project's records, sorted by name: `user`, and tombstones as `user -> owner`.
    func records() throws -> [String] {
        try app.sql { db in
            try db.all(
                """
                SELECT u.user_id, o.user_id FROM app_users u LEFT JOIN app_users o ON o.id = u.merged_into
                WHERE u.project_id = ? ORDER BY u.user_id
                """, project
            ) { row in
                let (user, owner) = (try row.read(String.self), try row.read(String?.self))
                return owner.map { "\(user) -> \($0)" } ?? user
            }
        }
    }
}

extension AnalyticsScene {
    /// What the SDKs of the scene's app send, as one request.
    func claim(_ anonymousID: JSONValue?, _ userID: JSONValue?, token: String? = nil) -> RepeatableRequest {
        post("/v1/identity/claim", ([:] as JSONValue).adding(["anonymous_id": anonymousID, "user_id": userID]), token)
    }

    func properties(_ userID: JSONValue?, _ properties: JSONValue?, token: String? = nil) -> RepeatableRequest {
        post(
            "/v1/identity/properties", ([:] as JSONValue).adding(["user_id": userID, "properties": properties]), token)
    }

    func post(_ path: String, _ body: JSONValue, _ token: String? = nil) -> RepeatableRequest {
        RepeatableRequest(method: .post, path: path, body: body, token: token ?? clientKey)
    }
}

private func freshSecret(_ kind: APIKey.Kind) -> String {
    kind.prefix + randomBytes(24).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
