import Database
package import IdentityTokens
import JSON
import MariaDB
import OpenSSL
import Text
import Time

/// Test data for a development user.
package struct DevelopmentSeed: Sendable {
    package var user: User.ID
    package var clientIDs: [String]
    package var agentApprovals: Int
    package var pushApprovals: Int

    package init(user: User.ID, clientIDs: [String], agentApprovals: Int, pushApprovals: Int) {
        self.user = user
        self.clientIDs = clientIDs
        self.agentApprovals = agentApprovals
        self.pushApprovals = pushApprovals
    }
}

extension AccountsTransaction {
    /// Creates live grants and pending approvals for a user. No two approvals are alike, also between users.
    ///
    /// - Returns: the number of new grants. The user may have had others before.
    package func seed(_ seed: DevelopmentSeed) throws -> Int {
        guard try lockUsers(seed.user)[seed.user] != nil else {
            throw RefusedOperation("there is no user \(seed.user.rawValue)")
        }
        var grants = 0
        for clientID in seed.clientIDs { grants += try seedGrant(of: seed.user, clientID) ? 1 : 0 }
        if seed.agentApprovals > 0 {
            let agent = try connection.execute(
                "INSERT INTO agents (user_id, public_id, name, created_at) VALUES (?, ?, 'Development agent', ?)",
                seed.user, "agt_" + letters(16), now
            ).lastInsertID
            for _ in 0..<seed.agentApprovals {
                try connection.execute(
                    """
                    INSERT INTO agent_approvals (user_id, agent_id, public_id, display_payload_hash, created_at)
                    VALUES (?, ?, ?, ?, ?)
                    """, seed.user, agent, "aar_" + letters(16), randomBytes(32).hexadecimal, now)
            }
        }
        for _ in 0..<seed.pushApprovals {
            try connection.execute(
                "INSERT INTO push_approval_requests (requested_user_id, created_at, expires_at) VALUES (?, ?, ?)",
                seed.user, now, now + .seconds(86_400))
        }
        return grants
    }

    /// Creates an identified user, as a sign-in with that identity would.
    ///
    /// - Parameter email: treated as verified.
    /// - Returns: the user, or the existing holder of the identity.
    package func seedUser(
        _ provider: Provider, subject: String, email: String?, name: String?
    ) throws -> (user: User, isNew: Bool) {
        if let holder = try connection.holder(of: provider, subject) {
            guard let user = try lockUsers(holder.canonical)[holder.canonical] else { throw TransactionMustRestart() }
            return (user, false)
        }
        let token = IdentityToken(
            provider: provider, subject: subject, email: email, emailVerified: email != nil, issuedAt: now)
        let loginEmail = try token.loginEmail.flatMap { try isFree($0.address) ? $0 : nil }
        let user = try createUser(
            anonymous: false, name: name.map(DisplayName.cleaned), contactEmail: email, loginEmail: loginEmail)
        try insertIdentity(token, for: user.id)
        return (user, true)
    }

    private func seedGrant(of user: User.ID, _ clientID: String) throws -> Bool {
        let application = try connection.first(
            "SELECT id, allowed_scopes FROM applications WHERE client_id = ?", clientID
        ) { row in (id: try row.read(Application.ID.self), scopes: try row.read(String.self)) }
        guard let application else { throw RefusedOperation("there is no application \(clientID)") }
        let isLive = try connection.first(
            "SELECT 1 FROM grants WHERE user_id = ? AND application_id = ? AND revoked_at IS NULL", user, application.id
        ) { row in try row.read(Int.self) }
        if isLive != nil { return false }
        try connection.execute(
            """
            INSERT INTO grants (user_id, application_id, sub, scopes, created_at) VALUES (?, ?, ?, ?, ?)
            ON DUPLICATE KEY UPDATE revoked_at = NULL, scopes = VALUES(scopes)
            """, user, application.id, String(user.rawValue), application.scopes, now)
        audit(.grantCreated, user: user, actor: .operator, ["client_id": .string(clientID)])
        return true
    }

    private func letters(_ count: Int) -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789".utf8)
        var generator = SystemRandomNumberGenerator()
        return String(decoding: (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }, as: UTF8.self)
    }
}
