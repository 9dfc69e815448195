/// A row of `identity_links`: whom a merge absorbed, and who survived it (accounts §3.2).
package struct IdentityLink: Sendable {
    package typealias ID = Identifier<IdentityLink>

    package var id: ID
    package var primary: User.ID
    package var linked: User.ID
    package var method: MergeMethod
}

/// What proved that two accounts may be merged, as `merged_via` names it (accounts §3.1, §3.2).
package enum MergeMethod: String, Sendable {
    /// An operator's, for a device that both accounts were used on.
    case deviceLink = "t1_device_link"
    /// An operator's, for an address that both accounts have.
    case emailMatch = "t2_email_match"
    case sessionToken = "session_token"
    /// A code that was mailed to the account that is absorbed.
    case otp = "t3_otp"
}

/// The proof of one merge. Its key is unique, so that it makes no second merge.
struct MergeEvidence {
    /// What the merge uses up.
    enum Credential {
        case token(MergeToken.ID)
        case otp(MergeOTP.ID)
    }

    let method: MergeMethod
    let idempotencyKey: String
    /// Nil for an operator's.
    var credential: Credential?
}

extension MergeEvidence {
    init(_ token: MergeToken.ID) {
        self.init(method: .sessionToken, idempotencyKey: "st:\(token.rawValue)", credential: .token(token))
    }

    init(_ otp: MergeOTP.ID) {
        self.init(method: .otp, idempotencyKey: "t3:\(otp.rawValue)", credential: .otp(otp))
    }
}
