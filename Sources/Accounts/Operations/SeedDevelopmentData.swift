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

    /// How long approvals wait: a day of work.
    fileprivate static let lifetime = Duration.seconds(86_400)

    package init(user: User.ID, clientIDs: [String], agentApprovals: Int, pushApprovals: Int) {
        self.user = user
        self.clientIDs = clientIDs
        self.agentApprovals = agentApprovals
        self.pushApprovals = pushApprovals
    }
}

extension AccountsTransaction {
    /// Creates live grants and pending approvals for a user. No two approvals are alike, also between users. Their agents cannot
    /// call, so the number that approves a request is in its title.
    ///
    /// - Returns: the number of new grants. The user may have had others before.
    package func seed(_ seed: DevelopmentSeed, serverKey: ServerKey) throws -> Int {
        _ = try lock(.tool, andLive: seed.user)
        var grants = 0
        for clientID in seed.clientIDs { grants += try seedGrant(of: seed.user, clientID) ? 1 : 0 }
        if seed.agentApprovals > 0 { try seedApprovals(seed.agentApprovals, of: seed.user, serverKey) }
        for _ in 0..<seed.pushApprovals {
            try connection.execute(
                "INSERT INTO push_approval_requests (requested_user_id, created_at, expires_at) VALUES (?, ?, ?)",
                seed.user, now, now + DevelopmentSeed.lifetime)
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

    private func seedApprovals(_ count: Int, of user: User.ID, _ serverKey: ServerKey) throws {
        let (name, kind) = ("Development agent", Agent.Kind.custom)
        let agent = try connection.execute(
            "INSERT INTO agents (user_id, public_id, name, agent_type, created_at) VALUES (?, ?, ?, ?, ?)", user,
            "agt_" + randomText(16, of: .lowerCaseAndDigits), name, kind, now
        ).lastInsertID
        // As many as fit into a packet.
        for start in stride(from: 1, through: count, by: 500) {
            try seedApprovals(start...min(start + 499, count), of: agent, name, kind, user, serverKey)
        }
    }

    private func seedApprovals(
        _ positions: ClosedRange<Int>, of agent: Int, _ name: String, _ kind: Agent.Kind, _ user: User.ID,
        _ serverKey: ServerKey
    ) throws {
        let requests = positions.map { position in
            let publicID = "aar_" + randomText(16, of: .lettersAndDigits)
            let secrets = SealedRequest(
                context: KeptJSON(.object(JSONObject([("request", .string(publicID))]))),
                numberMatch: randomText(6, of: .digits))
            let payload = DisplayPayload(
                actionType: "development", agentName: name, agentType: kind.rawValue, body: "Nothing happens.",
                context: secrets.context, title: "Approval \(position), number \(secrets.numberMatch)")
            return (publicID: publicID, payload: payload, sealed: secrets.sealed(with: serverKey, for: publicID))
        }
        let histories = try note(.requested, of: requests.map { ($0.publicID, user, $0.payload.hash, .none) })
        try connection.executeMany(
            """
            INSERT INTO agent_approvals (user_id, agent_id, public_id, display_payload_hash, action_type, title, body,
                                         sealed_request, created_at, expires_at, history_length, history_digest)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, Array(zip(requests, histories))
        ) { [now] request, history in
            [
                user, agent, request.publicID, request.payload.hash, request.payload.actionType, request.payload.title,
                request.payload.body, request.sealed, now, now + DevelopmentSeed.lifetime, history.length,
                history.digest,
            ]
        }
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
}
