import Accounts
import Database
import HTTP

private struct IdentitiesReply: Encodable {
    var connectedIdentities: [IdentityReply]
}

/// `GET /api/v1/me/connected_identities` (accounts §1.8).
@Sendable func listIdentities(_ call: Call, _ caller: Caller) throws -> Response {
    let identities = try call.database.read { try $0.identities(of: caller.id) }
    return .json(.ok, IdentitiesReply(connectedIdentities: identities.map(IdentityReply.init)))
}
