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
    var method: MergeMethod
    var idempotencyKey: String
}
