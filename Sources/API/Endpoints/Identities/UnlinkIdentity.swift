import Accounts
import HTTP

/// `DELETE /api/v1/me/connected_identities/{provider}` (accounts §1.8).
@Sendable func unlinkIdentity(_ call: Call, _ caller: Caller) throws -> Response {
    try call.commit { transaction in
        let (user, identities) = try call.accounts.unlinkIdentities(
            of: call.arguments[0], from: caller, in: transaction)
        return .json(.ok, ConnectedIdentitiesReply(user, identities))
    }
}
