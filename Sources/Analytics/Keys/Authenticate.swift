import JSON
package import MariaDB
import Time

extension Analytics {
    /// The key with this secret, its app and its project: one indexed read (analytics §2.5).
    ///
    /// - Throws: `unauthorized` if no live key has this secret.
    package func authenticate(_ secret: String, _ connection: Connection) throws -> APIKey {
        let digest = APIKey.digest(of: secret)
        rememberedKeys.forget(digest)
        guard let key = try connection.apiKey(digest) else {
            let isKey = APIKey.Kind.allCases.contains { secret.utf8.starts(with: $0.prefix.utf8) }
            throw Refusal.unauthorized(isKey ? "Invalid API key" : "Invalid or expired token")
        }
        let now = clock.now
        if let expiry = key.expiresAt, expiry <= now { throw Refusal.unauthorized("API key expired") }
        rememberedKeys.remember(key, digest, at: now)
        return key
    }

    /// A key that was live within the last minute, to be confirmed; nil if it has to be read.
    package func rememberedKey(_ secret: String) -> KeyProof? {
        let now = clock.now
        guard let key = rememberedKeys.key(APIKey.digest(of: secret), at: now), key.expiresAt.map({ now < $0 }) ?? true
        else { return nil }
        return KeyProof(key, isConfirmed: false)
    }

    /// Updates `last_used_at` if the key was last used at least a minute ago. Does not wait if the row is locked.
    package func noteUse(of key: APIKey, _ connection: Connection) throws {
        let now = clock.now
        if let lastUsedAt = key.lastUsedAt, now < lastUsedAt + .seconds(60) { return }
        try connection.execute(
            """
            SET STATEMENT innodb_lock_wait_timeout = 0 FOR
            UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)
            """, now, key.id, now)
    }
}

extension Connection {
    fileprivate func apiKey(_ digest: [UInt8]) throws -> APIKey? {
        try first(
            """
            SELECT k.id, k.key_type, k.permissions, k.team_id, k.last_used_at, k.expires_at,
                   a.id, a.platform, a.bundle_id, a.deleted_at IS NOT NULL,
                   p.id, p.claim_conflict, p.attachment_user_quota_bytes, p.attachment_project_quota_bytes,
                   p.deleted_at IS NOT NULL, (SELECT version FROM api_key_version WHERE id = 1)
            FROM api_keys k LEFT JOIN apps a ON a.id = k.app_id LEFT JOIN projects p ON p.id = a.project_id
            WHERE k.secret_sha256 = ? AND k.deleted_at IS NULL
            """, digest
        ) { row in
            let (id, kind) = (try row.read(APIKey.ID.self), try row.read(APIKey.Kind.self))
            let permissions = try [String](json: Array(try row.read(String.self).utf8)).compactMap(Permission.init)
            let team = try row.read(Team.ID.self)
            let (lastUsedAt, expiresAt) = (try row.read(Timestamp?.self), try row.read(Timestamp?.self))
            return APIKey(
                id: id, kind: kind, permissions: Set(permissions), team: team, app: try App(from: &row),
                lastUsedAt: lastUsedAt, expiresAt: expiresAt, version: try row.read())
        }
    }
}

extension App {
    /// Nil if an outer join found no row.
    fileprivate init?(from row: inout Row) throws(MariaDBError) {
        let (id, platform) = (try row.read(ID?.self), try row.read(AppPlatform?.self))
        let (bundleID, isDeleted) = (try row.read(String?.self), try row.read(Bool?.self))
        let (project, claimConflict) = (try row.read(Project.ID?.self), try row.read(Project.ClaimConflict?.self))
        let (userQuota, projectQuota) = (try row.read(Int64?.self), try row.read(Int64?.self))
        let isProjectDeleted = try row.read(Bool?.self)
        guard let id, let platform, let isDeleted, let project, let claimConflict, let isProjectDeleted else {
            return nil
        }
        self.init(
            id: id,
            project: Project(
                id: project, claimConflict: claimConflict, attachmentUserQuota: userQuota,
                attachmentProjectQuota: projectQuota, isDeleted: isProjectDeleted),
            platform: platform, bundleID: bundleID, isDeleted: isDeleted)
    }
}
