import Accounts
import ErrorCodes
import HTTP

/// What a client asks of the token endpoint.
enum TokenRequest {
    case code(CodeExchange, Application)
    /// The rule authenticates the client, since it reads it anyway.
    case refresh(RefreshRequest, ClientCredentials)
    /// - Parameter deviceCode: as the client presents it.
    case poll(deviceCode: String, Application)
}

extension Credential<TokenRequest> {
    /// A client, or a complete refresh, whose rule authenticates the client. What a request lacks is said to an authenticated
    /// client only.
    static let tokenClient = Credential(.client) { call in
        let credentials = try call.clientCredentials()
        if case "refresh_token"?? = try? call.form.value("grant_type"), let refresh = try? call.refreshRequest() {
            return .refresh(refresh, credentials)
        }
        let application = try call.authenticateClient(credentials)
        switch try call.form.required("grant_type") {
        case "authorization_code":
            let exchange = CodeExchange(
                code: try call.form.required("code"), redirectURI: try call.form.required("redirect_uri"),
                codeVerifier: try call.form.value("code_verifier"))
            return .code(exchange, application)
        case "refresh_token": return .refresh(try call.refreshRequest(), credentials)
        case "urn:ietf:params:oauth:grant-type:device_code":
            return .poll(deviceCode: try call.form.required("device_code"), application)
        default: throw OAuthError(.unsupportedGrantType, "grant_type is not supported")
        }
    }
}

extension Call {
    fileprivate func refreshRequest() throws -> RefreshRequest {
        let (token, scope) = (try form.required("refresh_token"), try form.value("scope"))
        guard let text = request.headers.first("idempotency-key") else {
            return RefreshRequest(token: token, scope: scope, key: nil)
        }
        guard let key = RefreshKey(text) else {
            throw OAuthError(.invalidRequest, "Idempotency-Key must be 22 to 255 visible ASCII characters")
        }
        return RefreshRequest(token: token, scope: scope, key: key)
    }
}
