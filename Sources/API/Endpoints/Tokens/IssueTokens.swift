import Accounts
import Database
import ErrorCodes
import HTTP
import Logging

/// `POST /oauth/token` (accounts §2.5, §2.6, §2.11, §3.8): tokens for a code, a refresh token or an approved device.
@Sendable func issueTokens(_ call: Call, _ application: Application) throws -> Response {
    let form = call.form
    // A code or token that another node issued a moment ago must not be unknown here.
    try call.database.catchUp()
    switch try form.required("grant_type") {
    case "authorization_code":
        let exchange = CodeExchange(
            code: try form.required("code"), redirectURI: try form.required("redirect_uri"),
            codeVerifier: try form.value("code_verifier"))
        return try call.answerWithTokens(to: application) {
            try call.accounts.exchange(exchange, by: application, in: $0)
        }
    case "refresh_token":
        let (token, scope) = (try form.required("refresh_token"), try form.value("scope"))
        let key = try call.refreshKey()
        return try call.answerWithTokens(to: application) {
            try call.accounts.refresh(token, scope: scope, key: key, by: application, in: $0)
        }
    case "urn:ietf:params:oauth:grant-type:device_code":
        let deviceCode = try form.required("device_code")
        return try call.answerWithTokens(to: application) {
            try call.accounts.poll(deviceCode, by: application, in: $0)
        }
    default: throw OAuthError(.unsupportedGrantType, "grant_type is not supported")
    }
}

extension Call {
    fileprivate func refreshKey() throws -> RefreshKey? {
        guard let text = request.headers.first("idempotency-key") else { return nil }
        guard let key = RefreshKey(text) else {
            throw OAuthError(.invalidRequest, "Idempotency-Key must be 22 to 255 visible ASCII characters")
        }
        return key
    }

    /// Runs a rule in one transaction, and commits its refusals too. Then records that tokens were issued.
    fileprivate func answerWithTokens(
        to application: Application, _ rule: (AccountsTransaction) throws -> TokenOutcome
    ) throws -> Response {
        var noted: TokenActivity?
        let response = try commit { transaction in
            switch try rule(transaction) {
            case .issued(let body, let activity):
                noted = activity
                let drift = application.hasScopeDrift(at: transaction.now)
                return Response(
                    .ok,
                    headers: [
                        Response.Field("Content-Type", "application/json"), Response.Field("Pragma", "no-cache"),
                    ] + (drift ? [Response.Field("X-Logi-Scope-Drift", "1")] : []), body: body)
            case .refused(let error): return surface.refusal(error, to: request)
            }
        }
        if let noted {
            do {
                try database.autocommit { try accounts.note(noted, $0) }
            } catch {
                logger.debug("the user's last activity could not be recorded", metadata: ["error": "\(error)"])
            }
        }
        return response
    }
}
