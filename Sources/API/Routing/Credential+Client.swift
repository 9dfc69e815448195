import Accounts
import Database
import ErrorCodes
import HTTP
import Text

extension Credential<Application> {
    /// A relying party, by its credentials in the form or in the Authorization header (accounts §2.5).
    static let client = Credential(.client) { call in
        try call.authenticateClient(call.clientCredentials())
    }

    /// A client that has a secret.
    ///
    /// - Parameter basicOnly: whether the request has no form, so that the credentials must be in the header.
    static func confidentialClient(basicOnly: Bool = false) -> Credential {
        Credential(.confidentialClient(basicOnly: basicOnly)) { call in
            if basicOnly, try call.basicCredentials == nil {
                throw OAuthError(.invalidClient, "client authentication with HTTP Basic is required")
            }
            let application = try client.check(call)
            guard application.clientType == .confidential else {
                throw OAuthError(.invalidClient, "only confidential clients may use this endpoint")
            }
            return application
        }
    }

    /// A client that has a secret, on a surface whose refusals have no description (accounts §3.6).
    static let pollingClient = Credential(.confidentialClient(basicOnly: true)) { call in
        do {
            return try confidentialClient(basicOnly: true).check(call)
        } catch let error as OAuthError where error.code == .invalidClient {
            throw Failure.invalidClient
        }
    }
}

/// A question of an authenticated client that has a secret.
enum IntrospectionRequest {
    /// The read that authenticated the client has found its token.
    case answered(Introspection, clientID: String)
    case open(Application)
}

extension Credential<IntrospectionRequest> {
    /// A client that has a secret. If it presents a live access token of its own, one statement reads both.
    static let introspectingClient = Credential(.confidentialClient(basicOnly: false)) { call in
        let credentials = try call.clientCredentials()
        if let token = try? call.form.required("token"),
            let found = try call.database.read({ try call.accounts.introspect(token, by: credentials, $0) })
        {
            return .answered(found, clientID: credentials.clientID)
        }
        return .open(try Credential<Application>.confidentialClient().check(call))
    }
}

extension Call {
    /// What the client presents in the Authorization header or else in the form, not yet checked.
    func clientCredentials() throws -> ClientCredentials {
        try basicCredentials
            ?? ClientCredentials(clientID: try form.required("client_id"), secret: try form.value("client_secret"))
    }

    /// - Throws: `invalid_client`.
    func authenticateClient(_ credentials: ClientCredentials) throws -> Application {
        try database.read { try accounts.authenticateClient(credentials, $0) }
    }

    /// The Authorization header's client (RFC 6749 §2.3.1, both parts form-encoded), checked against the form. The secret
    /// may also be one that was not encoded.
    ///
    /// - Throws: `invalid_request` if the form has a secret too, or another client_id; `invalid_client` if the header
    ///   has another scheme.
    fileprivate var basicCredentials: ClientCredentials? {
        get throws {
            if request.headers.first("authorization") == nil { return nil }
            guard let text = credentials("Basic").flatMap({ Base64.decode($0) }),
                let colon = text.firstIndex(of: UInt8(ascii: ":"))
            else { throw OAuthError(.invalidClient, "the Authorization header has no valid Basic credentials") }
            let clientID = QueryParameters.decoded(text[..<colon])
            let sentSecret = text[(colon + 1)...]
            let secret = QueryParameters.decoded(sentSecret)
            if try form.value("client_secret") != nil {
                throw OAuthError(.invalidRequest, "client_secret is sent in the form and by HTTP Basic")
            }
            if let other = try form.value("client_id"), !other.hasSameBytes(as: clientID) {
                throw OAuthError(.invalidRequest, "client_id differs from the one in the Authorization header")
            }
            return ClientCredentials(
                clientID: clientID, secret: secret.isEmpty ? nil : secret,
                verbatimSecret: secret.utf8.elementsEqual(sentSecret)
                    ? nil : String(validating: sentSecret, as: UTF8.self))
        }
    }
}
