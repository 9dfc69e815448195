import Accounts
import JSON
import Time

/// The account with its identities: the answer to linking and unlinking (accounts §1.8).
struct ConnectedIdentitiesReply: Encodable {
    var user: UserReply
    var connectedIdentities: [IdentityReply]
    var claims: [AccountClaimReply]?

    init(_ user: User, _ identities: [Identity], claims: [AccountClaimReply]? = nil) {
        self.user = UserReply(user)
        connectedIdentities = identities.map(IdentityReply.init)
        self.claims = claims
    }
}

struct IdentityReply: Encodable {
    var provider: String
    @Nullable var email: String?
    var linkedAt: String

    init(_ identity: Identity) {
        provider = identity.provider
        email = identity.email
        linkedAt = identity.linkedAt.iso8601
    }
}
