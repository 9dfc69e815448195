import Accounts
import HTTP

extension Surface {
    /// RFC 6749 §5.2: a client that could not be authenticated gets 401, everything else 400. Native authorize (accounts
    /// §2.3) has its own endpoints' codes, all of them 400.
    func refusal(_ error: OAuthError, to request: Request) -> Response {
        let reply = ErrorReply(error: error.code, errorDescription: error.description)
        guard isOAuth else { return refusal(reply, .badRequest) }
        let triedBasic = error.code == .invalidClient && request.headers.first("authorization") != nil
        return refusal(
            reply, headers: triedBasic ? [Response.Field("WWW-Authenticate", "Basic realm=\"merganser\"")] : [])
    }
}
