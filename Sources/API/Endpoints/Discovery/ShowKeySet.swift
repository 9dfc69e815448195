import Accounts
import HTTP

/// `GET /.well-known/jwks.json` (accounts §2.10).
@Sendable func showKeySet(_ call: Call, _: Anyone) throws -> Response {
    guard let document = try call.accounts.signingKeys.document(call.database) else {
        // Clients must not cache this answer, because the first key of all may sign at once.
        return .json(.ok, ["keys": [String]()])
    }
    return .publicDocument(document)
}
