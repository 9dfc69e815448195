import HTTP
import JOSE
import JSON
import Testing
import Text

@testable import API
@testable import Accounts

/// A form POST that can be sent from any thread.
struct FormRequest: Sendable {
    let path: String
    let body: [UInt8]
    let headers: [(name: String, value: String)]
}

extension Client {
    func send(_ form: FormRequest) -> Answer { send(.post, form.path, bytes: form.body, headers: form.headers) }
}

extension OAuthScene {
    func codeForm(_ code: String, of rp: TestClient) -> [(String, String?)] {
        [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", rp.redirectURI),
            ("code_verifier", Self.verifier),
        ]
    }

    func refreshForm(_ token: String, scope: String? = nil) -> [(String, String?)] {
        [("grant_type", "refresh_token"), ("refresh_token", token), ("scope", scope)]
    }

    func userInfo(
        _ token: String?, _ method: HTTP.Method = .get, path: String = "/oauth/userinfo", with client: Client? = nil
    ) -> Answer {
        (client ?? self.client).send(method, path, token: token)
    }

    func revoke(_ token: String?, by rp: TestClient) -> Answer { post("/oauth/revoke", [("token", token)], as: rp) }

    func introspect(_ token: String?, by rp: TestClient) -> Answer {
        post("/oauth/introspect", [("token", token)], as: rp)
    }

    func sub(_ sub: String, at rp: TestClient) -> Answer {
        client.send(.get, "/oauth/subs/\(sub)", headers: [("authorization", basic(rp.clientID, rp.secret ?? ""))])
    }

    /// Signed with the server's own key, whatever it says.
    func sign(_ claims: JSONValue, type: String = "at+jwt") throws -> String {
        try app.sql { db in try app.service.accounts.signingKeys.signer(db) }.sign(claims, type: type)
    }

    /// The token's claims with members added or replaced, and signed again.
    func resign(_ token: String, _ changes: KeyValuePairs<String, JSONValue?>, type: String = "at+jwt") throws -> String
    {
        guard case .object(let object) = try payload(of: token) else { return token }
        let kept = object.members.filter { member in !changes.contains { $0.key == member.name } }
        return try sign(JSONValue.object(JSONObject(kept.map { ($0.name, $0.value) })).adding(changes), type: type)
    }
}

/// What a token says.
func payload(of token: String) throws -> JSONValue {
    let parts = token.split(separator: ".")
    try #require(parts.count == 3)
    let payload = try #require(Base64URL.decode(parts[1].utf8))
    return try JSONValue(json: payload)
}

extension Answer {
    /// The status and code of a refusal whose body has the shape of accounts §0.2 for `/oauth`.
    func oauthRefusal(sourceLocation: SourceLocation = #_sourceLocation) throws -> String {
        let error = try #require(error, "\(self)", sourceLocation: sourceLocation)
        guard case .object(let body) = json else { return text }
        #expect(
            body.members.map(\.name) == ["error", "error_description", "error_uri", "request_id"],
            sourceLocation: sourceLocation)
        #expect(self["error_uri"]?.string == "\(TestApp.issuer)/oauth/errors#\(error)", sourceLocation: sourceLocation)
        #expect(self["request_id"]?.string == header("X-Request-Id"), sourceLocation: sourceLocation)
        #expect(self["error_description"]?.string?.isEmpty == false, sourceLocation: sourceLocation)
        #expect(header("Cache-Control") == "no-store", sourceLocation: sourceLocation)
        return "\(status) \(error)"
    }

    /// The names of the body's members, in order.
    var names: [String] {
        guard case .object(let object) = json else { return [] }
        return object.members.map(\.name)
    }
}
