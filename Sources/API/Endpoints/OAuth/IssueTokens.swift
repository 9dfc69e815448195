import Accounts
import HTTP

/// `POST /oauth/token` (accounts §2.5, §2.6): tokens for a code or a refresh token.
@Sendable func issueTokens(_ call: Call, _ application: Application) throws -> Response {
    let form = call.form
    switch try form.required("grant_type") {
    case "authorization_code":
        let exchange = CodeExchange(
            code: try form.required("code"), redirectURI: try form.required("redirect_uri"),
            codeVerifier: try form.value("code_verifier"))
        return try call.commit { transaction in
            call.answer(try call.accounts.exchange(exchange, by: application, in: transaction))
        }
    case "refresh_token":
        let (token, scope) = (try form.required("refresh_token"), try form.value("scope"))
        return try call.commit { transaction in
            call.answer(try call.accounts.refresh(token, scope: scope, by: application, in: transaction))
        }
    default: throw OAuthError(.unsupportedGrantType, "grant_type is not supported")
    }
}

extension Call {
    fileprivate func answer(_ outcome: TokenOutcome) -> Response {
        switch outcome {
        case .issued(let body):
            Response(
                .ok,
                headers: [
                    Response.Field("Content-Type", "application/json"), Response.Field("Pragma", "no-cache"),
                ], body: body)
        case .refused(let error): surface.refusal(error, to: request)
        }
    }
}
