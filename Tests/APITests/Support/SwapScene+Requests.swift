import HTTP
import IdentityTokens
import JSON
import MariaDB
import TestSupport
import Time

extension SwapScene {
    /// The members of a swap's body that prove that the caller holds an identity.
    enum Proof: CaseIterable, Sendable {
        case token, ticket
    }

    func proof(
        of b: IdentifiedUser, for a: Phone, by proof: Proof = .token
    ) throws -> [(String, JSONValue)] {
        switch proof {
        case .token:
            [
                ("provider", "apple"), ("raw_nonce", "nonce"),
                ("identity_token", .string(app.issuer(.apple).token(subject: b.subject))),
            ]
        case .ticket: [("swap_ticket", .string(try ticket(for: a.userID, subject: b.subject)))]
        }
    }

    func ticket(for user: Int, _ provider: Provider = .apple, subject: String) throws -> String {
        let ticket = "swt_" + padded(next(), 43)
        try db.write(
            """
            INSERT INTO swap_tickets (digest, user_id, provider, sub, created_at, expires_at)
            VALUES (UNHEX(SHA2(?, 256)), ?, ?, ?, ?, ?)
            """, ticket, user, provider.rawValue, subject, app.time.now, app.time.now + .seconds(600))
        return ticket
    }

    func swapRequest(
        _ a: Phone, into b: IdentifiedUser, by proof: Proof = .token, _ members: [(String, JSONValue)] = [],
        key: String? = nil, ifMatch: String? = nil
    ) throws -> RepeatableRequest {
        RepeatableRequest(
            method: .post, path: "/api/v1/me/anonymous_swap",
            body: .object(JSONObject(try self.proof(of: b, for: a, by: proof) + members)), token: a.token,
            headers: [("idempotency-key", key), ("if-match", ifMatch)].compactMap { name, value in
                value.map { (name, $0) }
            })
    }

    func swap(
        _ a: Phone, into b: IdentifiedUser, by proof: Proof = .token, _ members: [(String, JSONValue)] = [],
        ifMatch: String? = nil
    ) throws -> Answer {
        client.send(try swapRequest(a, into: b, by: proof, members, ifMatch: ifMatch))
    }

    func preview(
        _ a: Phone, into b: IdentifiedUser, by proof: Proof = .token, _ members: [(String, JSONValue)] = [],
        ifMatch: String? = nil
    ) throws -> Answer {
        try swap(a, into: b, by: proof, members + [("dry_run", true)], ifMatch: ifMatch)
    }
}
