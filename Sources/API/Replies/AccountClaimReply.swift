import Analytics
import JSON

/// A member of `claims`, which answers a request that carried `anonymous_id` (accounts Stage 5).
struct AccountClaimReply: Encodable {
    let projectID: Project.ID
    let anonymousID: String
    let outcome: String

    init(_ claim: AccountClaim) {
        projectID = claim.project
        anonymousID = claim.anonymousID.rawValue
        outcome = claim.outcome.rawValue
    }
}
