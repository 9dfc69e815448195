public import Foundation

extension AccountSession {
    /// What an application asks for that opened this app with an authorize URL. It changes nothing (accounts §2.3).
    ///
    /// - Throws: besides, `authorizationRefused` with an error code of OAuth 2.0.
    public func preview(authorization url: URL) async throws -> AuthorizationPreview {
        let query = formEncoded(try parameters(of: url))
        let answer = try await ask(Call("GET", "/api/v1/oauth/authorize/preview?\(query)"))
        guard answer.status != 400 else { throw answer.authorizationError }
        return try answer.decoded(AuthorizationPreview.self)
    }

    /// Answers an authorize URL with the user's decision.
    ///
    /// - Returns: the URL to open, which belongs to the application.
    /// - Throws: besides, `authorizationRefused` with an error code of OAuth 2.0; `server` with `anonymous_not_allowed`.
    public func authorize(_ url: URL, allow: Bool = true) async throws -> URL {
        var members = Dictionary(try parameters(of: url)) { first, _ in first }
        members["decision"] = allow ? "approve" : "deny"
        // Repeatable: a code that nobody received expires. The names are as they came.
        let call = Call("POST", "/api/v1/oauth/authorize", isRepeatable: true)
            .json(encoded: try JSONEncoder().encode(members))
        let answer = try await ask(call)
        guard answer.status != 400 else { throw answer.authorizationError }
        guard let target = URL(string: try answer.decoded(AuthorizationReply.self).redirectTo) else {
            throw answer.error
        }
        return target
    }

    /// Twice the same parameter is refused, as the server would.
    private func parameters(of url: URL) throws(MerganserError) -> [(String, String)] {
        let pairs = queryPairs(of: url)
        guard url.host == issuer.host, url.port == issuer.port, url.path.hasSuffix("/oauth/authorize"),
            Set(pairs.map(\.name)).count == pairs.count
        else {
            throw .authorizationRefused(
                code: "invalid_request", description: "This is no authorize URL of the server.")
        }
        return pairs.map { ($0.name, $0.value) }
    }
}

/// What an application asks for.
public struct AuthorizationPreview: Decodable, Hashable, Sendable {
    /// Who asks.
    public struct Application: Decodable, Hashable, Sendable {
        /// Its client_id.
        public let clientID: String
        /// As its developer called it.
        public let name: String

        enum CodingKeys: String, CodingKey {
            case clientID = "clientId"
            case name
        }
    }

    /// Something that it asks for.
    public struct Scope: Decodable, Hashable, Sendable {
        /// As the authorize URL names it.
        public let name: String
        /// For the user.
        public let description: String
        /// Whether the user allowed it earlier.
        public let granted: Bool
    }

    /// Who asks.
    public let application: Application
    /// What it asks for.
    public let scopes: [Scope]
    /// Whether the user has to be asked.
    public let consentRequired: Bool
    /// Whether the application takes guests.
    public let anonymousAllowed: Bool
    /// Where the answer goes.
    public let redirectURI: String

    enum CodingKeys: String, CodingKey {
        case application, scopes, consentRequired, anonymousAllowed
        case redirectURI = "redirectUri"
    }
}

private struct AuthorizationReply: Decodable {
    let redirectTo: String
}

extension Answer {
    fileprivate var authorizationError: MerganserError {
        code.map { .authorizationRefused(code: $0, description: description) } ?? error
    }
}
