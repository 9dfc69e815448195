import HTTP
import JSON
import MariaDB
import TestSupport
import Time

/// An account that can merge: with an identity and a PAK without a device.
struct Member: Sendable {
    let id: Int
    let subject: String
    let token: String
}

extension SwapScene {
    func member(name: String? = "Bea", email: String? = nil) throws -> Member {
        let user = try identified(name: name, email: email)
        let token = "lpk_live_member-\(user.id)"
        try pak(token, of: user.id, on: nil)
        return Member(id: user.id, subject: user.subject, token: token)
    }

    /// A merge session token as the endpoint issues it, but for its copy.
    func mergeToken(of user: Int) throws -> String {
        let token = "ltgt_" + padded(next(), 43)
        try db.write(
            """
            INSERT INTO merge_tokens (digest, user_id, created_at, expires_at) VALUES (UNHEX(SHA2(?, 256)), ?, ?, ?)
            """, token, user, app.time.now, app.time.now + .seconds(300))
        return token
    }

    func mergeRequest(
        _ requester: Member, _ token: String?, _ members: [(String, JSONValue)] = [], key: String? = nil,
        ifMatch: String? = nil
    ) -> RepeatableRequest {
        RepeatableRequest(
            method: .post, path: "/api/v1/me/merge",
            body: .object(JSONObject((token.map { [("target_session_token", .string($0))] } ?? []) + members)),
            token: requester.token,
            headers: [("idempotency-key", key), ("if-match", ifMatch)].compactMap { name, value in
                value.map { (name, $0) }
            })
    }

    @discardableResult
    func merge(_ absorbed: Int, into requester: Member) throws -> Answer {
        client.send(mergeRequest(requester, try mergeToken(of: absorbed)))
    }

    /// One and more of everything that a merge moves.
    ///
    /// - Parameter shared: a relying party that others may have a grant for, too.
    func furnish(_ user: Int, shared: RelyingParty) throws {
        try grant(user, shared)
        try grant(user, try relyingParty(), revoked: true)
        let agent = try agent(user)
        try approval(user, of: agent, payload: "same")
        try approval(user, of: agent, status: "approved")
        try notification(requested: user)
        try notification(requested: user, approved: user)
        try phone(of: user)
        try db.write("UPDATE applications SET owner_user_id = ? WHERE id = ?", user, try relyingParty().id)
        try db.write("INSERT INTO login_events (user_id, event) VALUES (?, 'web_login')", user)
        try db.write(
            """
            INSERT INTO absorbed_subs (application_id, sub, canonical_user_id, via, was_anonymous, occurred_at)
            VALUES (?, ?, ?, 'anonymous_swap', TRUE, ?)
            """, shared.id, "swapped-\(user)", user, app.time.now)
        try db.write(
            "INSERT INTO web_sessions (digest, user_id, expires_at) VALUES (UNHEX(SHA2(?, 256)), ?, ?)",
            "session-\(user)", user, app.time.now + .seconds(3600))
        _ = try ticket(for: user, subject: "whoever-\(user)")
        try app.absorb(try insert("INSERT INTO users (name) VALUES ('Absorbed before')"), into: user)
    }
}
