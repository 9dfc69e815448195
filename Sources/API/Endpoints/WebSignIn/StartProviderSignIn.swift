import Accounts
import HTTP
import IdentityTokens
import Text

/// `GET /auth/{provider}/web/start` (accounts §2.4): sends the browser to the provider.
@Sendable func startProviderSignIn(_ call: Call, _ visitor: Visitor) throws -> Response {
    let (provider, settings, clientID) = try call.webProvider()
    let pending = try call.pendingRequest(call.queryParameters["request"], of: visitor)
    return try call.commit { transaction in
        let (trip, state) = try call.accounts.setOut(to: provider, for: pending, transaction)
        var parameters = [
            ("client_id", clientID), ("redirect_uri", call.callbackURL(of: provider)), ("response_mode", "form_post"),
            ("state", state), ("nonce", trip.nonce),
        ]
        switch provider {
        case .apple: parameters += [("response_type", "code id_token"), ("scope", "name email")]
        case .google:
            parameters += [("response_type", "id_token"), ("scope", "openid email profile")]
            if case .authorization(let request) = pending.purpose, let hint = request.loginHint {
                parameters.append(("login_hint", hint))
            }
            if pending.asksAgain { parameters.append(("prompt", "select_account")) }
        }
        let query = parameters.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
        return .redirect(.seeOther, to: "\(settings.authorizeURL)?\(query)")
    }
}

extension Call {
    func callbackURL(of provider: Provider) -> String {
        "\(accounts.settings.issuer)/auth/\(provider.rawValue)/web/callback"
    }
}
