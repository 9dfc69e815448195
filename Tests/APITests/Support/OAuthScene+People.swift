import HTTP
import JSON
import Testing

extension OAuthScene {
    /// Where a device takes notifications.
    func registerForPush(
        _ phone: Phone, _ token: JSONValue? = .string(String(repeating: "0a1b", count: 16)),
        _ environment: JSONValue? = "production"
    ) -> Answer {
        client.send(
            .put, "/api/v1/me/push_token", ([:] as JSONValue).adding(["token": token, "environment": environment]),
            token: phone.token)
    }

    /// The anonymous account of a phone becomes an identified one in place.
    func promote(_ phone: Phone, subject: String = "promoted", email: String? = nil) throws {
        let answer = client.send(
            .post, "/api/v1/me/connected_identities", app.proof(subject, email: email).adding(["provider": "apple"]),
            token: phone.token)
        try #require(answer.status == 200, "\(answer)")
    }

    /// Swaps a phone's anonymous account into the one that signs in with a subject.
    ///
    /// - Parameter rps: the client_ids to move; all, when nil.
    func swapRequest(_ phone: Phone, into subject: String, rps: [String]? = nil) -> RepeatableRequest {
        let selection = rps.map { JSONValue.object(JSONObject([("rps", .array($0.map(JSONValue.string)))])) }
        return RepeatableRequest(
            method: .post, path: "/api/v1/me/anonymous_swap",
            body: app.proof(subject).adding(["provider": "apple", "merge_options": selection]), token: phone.token)
    }

    func swap(_ phone: Phone, into subject: String, rps: [String]? = nil) throws {
        let answer = client.send(swapRequest(phone, into: subject, rps: rps))
        try #require(answer.status == 200, "\(answer)")
    }

    /// Merges an account into another, as far as tokens care.
    func merge(_ user: Int, into survivor: Int) throws {
        try app.absorb(user, into: survivor)
        try app.change("UPDATE grants SET user_id = ? WHERE user_id = ?", survivor, user)
    }
}
