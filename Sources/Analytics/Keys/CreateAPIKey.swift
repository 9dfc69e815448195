import JSON
import MariaDB
import OpenSSL
import Text
package import Time

/// A key that an operator creates (analytics §2.5).
package struct NewAPIKey: Sendable {
    package var kind: APIKey.Kind
    /// Required for client and import keys.
    package var app: App.ID?
    /// Required for agent keys. Other keys belong to their app's team, which may be repeated here.
    package var team: Team.ID?
    package var name: String
    /// Nil for the permissions of its kind.
    package var permissions: [Permission]?
    package var expiresAt: Timestamp?
    /// A secret that shipped apps already use; nil for a new one.
    package var secret: String?

    package init(
        kind: APIKey.Kind, app: App.ID? = nil, team: Team.ID? = nil, name: String, permissions: [Permission]? = nil,
        expiresAt: Timestamp? = nil, secret: String? = nil
    ) {
        self.kind = kind
        self.app = app
        self.team = team
        self.name = name
        self.permissions = permissions
        self.expiresAt = expiresAt
        self.secret = secret
    }
}

extension APIKey.Kind {
    /// The permissions that keys of this kind may have. Keys have all of them by default.
    package var permissions: [Permission] {
        switch self {
        case .client, .import: [.eventsWrite, .usersWrite]
        case .agent: Permission.allCases.filter { $0 != .eventsWrite }
        }
    }
}

extension AnalyticsTransaction {
    /// - Returns: the key, and its secret if it is new. The secret is not shown again.
    package func createAPIKey(_ new: NewAPIKey) throws -> (key: APIKeySummary, secret: String?) {
        try new.check(at: now)
        let team = try team(of: new)
        let secret = new.secret ?? new.kind.prefix + randomBytes(24).hexadecimal
        let permissions = new.kind.permissions.filter { (new.permissions ?? new.kind.permissions).contains($0) }
        let key = APIKeySummary(
            id: APIKey.ID(at: now), kind: new.kind,
            lastCharacters: String(String.UnicodeScalarView(secret.unicodeScalars.suffix(4))), app: new.app, team: team,
            name: new.name, permissions: permissions, expiresAt: new.expiresAt, createdAt: now)
        do {
            try connection.execute(
                """
                INSERT INTO api_keys (id, secret_sha256, key_type, prefix, last4, app_id, team_id, name, permissions,
                                      expires_at, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, key.id, APIKey.digest(of: secret), key.kind, key.kind.prefix, key.lastCharacters, key.app,
                key.team, key.name, String(decoding: permissions.map(\.rawValue).json(), as: UTF8.self), key.expiresAt,
                key.createdAt)
        } catch {
            guard error.duplicateKey == "api_keys_secret" else { throw error }
            throw OperatorError(
                "another key, live or revoked, has this secret; `merganserctl api-key list` shows how each secret ends")
        }
        return (key, new.secret == nil ? secret : nil)
    }

    private func team(of new: NewAPIKey) throws -> Team.ID {
        if new.kind == .agent {
            guard new.app == nil, let team = new.team else {
                throw OperatorError("an agent key belongs to a team and to no app; name only the team")
            }
            try connection.requireTeam(team)
            return team
        }
        guard let app = new.app else {
            throw OperatorError("a key of type \(new.kind.rawValue) belongs to an app; name the app")
        }
        guard let team = try connection.team(ofLiveApp: app) else {
            throw OperatorError("there is no app \(app); `merganserctl app list` shows them")
        }
        guard new.team == nil || new.team == team else {
            throw OperatorError("the app belongs to team \(team); leave the team out, or name this team")
        }
        return team
    }
}

extension NewAPIKey {
    fileprivate func check(at now: Timestamp) throws(OperatorError) {
        try OperatorError.check(name: name, of: "the key")
        if let permissions {
            let allowed = kind.permissions
            for permission in permissions where !allowed.contains(permission) {
                throw OperatorError(
                    "a key of type \(kind.rawValue) cannot have \(permission.rawValue); it may have "
                        + allowed.map(\.rawValue).joined(separator: ", "))
            }
        }
        if let expiresAt, expiresAt <= now {
            throw OperatorError("\(expiresAt.iso8601Milliseconds) is in the past; choose a later time, or none")
        }
        if let secret {
            guard secret.utf8.starts(with: kind.prefix.utf8) else {
                throw OperatorError("the secret of a key of type \(kind.rawValue) must begin with \(kind.prefix)")
            }
            guard !secret.hasControlCharacters, !secret.contains(" ") else {
                throw OperatorError(
                    "the secret has spaces or control characters; an Authorization header cannot carry it")
            }
        }
    }
}

extension Connection {
    fileprivate func team(ofLiveApp app: App.ID) throws -> Team.ID? {
        try first(
            """
            SELECT a.team_id FROM apps a JOIN projects p ON p.id = a.project_id
            WHERE a.id = ? AND a.deleted_at IS NULL AND p.deleted_at IS NULL
            """, app
        ) { row in try row.read() }
    }
}
