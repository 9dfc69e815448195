import Accounts

extension Credential<AccessToken> {
    /// An access token that this server issued to a relying party, in the Authorization header (RFC 6750 §2.1).
    static let accessToken = Credential { call in
        guard let token = call.bearerToken() else { throw Failure.invalidToken }
        return try call.database.read { try call.accounts.checkAccessToken(token, $0) }
    }
}
