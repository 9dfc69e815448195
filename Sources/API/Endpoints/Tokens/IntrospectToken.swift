import Accounts
import Database
import HTTP
import Time

/// `POST /oauth/introspect` (RFC 7662, accounts §2.9): whether a token of the application is valid now.
@Sendable func introspectToken(_ call: Call, _ question: IntrospectionRequest) throws -> Response {
    switch question {
    case .answered(let found, let clientID):
        return .json(.ok, IntrospectionReply(found, clientID: clientID))
    case .open(let application):
        let token = try call.form.required("token")
        let found = try call.database.find { try call.accounts.introspect(token, for: application, $0) }
        return .json(.ok, IntrospectionReply(found, clientID: application.clientID))
    }
}

private struct IntrospectionReply: Encodable {
    let active: Bool
    var scope: String?
    var clientID: String?
    var sub: String?
    var canonicalSub: String?
    var tokenType: String?
    var exp: Int64?
    var iat: Int64?
    var jti: String?

    init(_ found: Introspection?, clientID: String) {
        active = found != nil
        guard let found else { return }
        scope = found.scopes.text
        self.clientID = clientID
        sub = found.sub
        canonicalSub = found.canonicalSub
        (exp, iat) = (found.expiresAt.seconds, found.issuedAt.seconds)
        switch found.kind {
        case .accessToken(let id): (tokenType, jti) = ("Bearer", id)
        case .refreshToken: tokenType = "refresh_token"
        }
    }
}
