import MariaDB
import TestSupport
import Time

extension SwapScene {
    func relyingParty(_ name: String = "Shop", notified: Bool = false, webhook: String? = nil) throws -> RelyingParty {
        let clientID = "logi_" + padded(next(), 32)
        let id = try insert(
            """
            INSERT INTO applications
                (client_id, name, client_type, status, allow_anonymous_grants, notify_anonymous_swap, webhook_url)
            VALUES (?, ?, 'public', 'active', 1, ?, ?)
            """, clientID, name, notified, webhook)
        return RelyingParty(id: id, clientID: clientID)
    }

    /// With an authorization code and a refresh family.
    @discardableResult
    func grant(_ user: Int, _ rp: RelyingParty, sub: String? = nil, revoked: Bool = false) throws -> Int {
        let id = try insert(
            """
            INSERT INTO grants (user_id, application_id, sub, scopes, created_at, revoked_at)
            VALUES (?, ?, ?, 'openid profile', ?, ?)
            """, user, rp.id, sub ?? "\(user)", app.time.now, revoked ? app.time.now : nil)
        try db.write(
            """
            INSERT INTO authorization_codes (grant_id, digest, expires_at, used_at) VALUES (?, UNHEX(SHA2(?, 256)), ?, ?)
            """, id, "code-\(id)", app.time.now + .seconds(300), revoked ? app.time.now : nil)
        try db.write(
            "INSERT INTO refresh_families (grant_id, revoked_at) VALUES (?, ?)", id, revoked ? app.time.now : nil)
        return id
    }

    func agent(_ user: Int) throws -> Int {
        try insert("INSERT INTO agents (user_id, public_id) VALUES (?, ?)", user, "agt_" + padded(next(), 16))
    }

    /// - Parameter payload: what the phone shows, by which duplicates are known; another one each time when nil.
    @discardableResult
    func approval(_ user: Int, of agent: Int, payload: String? = nil, status: String = "pending") throws -> Int {
        let number = next()
        return try insert(
            """
            INSERT INTO agent_approvals (user_id, agent_id, public_id, status, display_payload_hash)
            VALUES (?, ?, ?, ?, SHA2(?, 256))
            """, user, agent, "aar_" + padded(number, 16), status, payload ?? "payload \(number)")
    }

    @discardableResult
    func notification(requested: Int?, approved: Int? = nil) throws -> Int {
        try insert(
            "INSERT INTO push_approval_requests (requested_user_id, approved_user_id, expires_at) VALUES (?, ?, ?)",
            requested, approved, app.time.now + .seconds(300))
    }

    /// The assets of the seed's example: 3 grants, of which B has one too, 5 approvals, 3 notifications.
    func exampleAssets(of a: Phone, beside b: IdentifiedUser) throws {
        let rps = try [relyingParty("상점"), relyingParty("Library"), relyingParty("Café")]
        for rp in rps { try grant(a.userID, rp) }
        try grant(b.id, rps[1])
        let agent = try agent(a.userID)
        for _ in 0..<5 { try approval(a.userID, of: agent) }
        try notification(requested: a.userID)
        try notification(requested: a.userID, approved: a.userID)
        try notification(requested: b.id, approved: a.userID)
    }
}
