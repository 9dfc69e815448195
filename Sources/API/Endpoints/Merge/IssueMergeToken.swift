import Accounts
import HTTP
import JSON
import Time

private struct IssueMergeTokenRequest: Decodable {
    @Exact var idempotencyKey: String?
}

private struct IssueMergeTokenReply: Encodable {
    var sessionToken: String
    var expiresAt: String
}

/// `POST /api/v1/me/merge/session-token` (accounts §3.1): a token with which another account absorbs the
/// calling one.
@Sendable func issueMergeToken(_ call: Call, _ caller: Caller) throws -> Response {
    let body = try call.decode(IssueMergeTokenRequest.self)
    return try call.commit { transaction in
        let token = try call.accounts.issueMergeToken(to: caller, under: body.idempotencyKey, in: transaction)
        return .json(.ok, IssueMergeTokenReply(sessionToken: token.text, expiresAt: token.expiresAt.iso8601))
    }
}
