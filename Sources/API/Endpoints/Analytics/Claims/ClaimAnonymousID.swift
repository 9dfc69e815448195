import Analytics
import HTTP

private struct ClaimReply: Encodable {
    var claimed = true
    var eventsReassignedCount: Int
}

/// `POST /v1/identity/claim` (analytics §5).
@Sendable func claimAnonymousID(_ call: Call, _ proof: KeyProof) throws -> Response {
    let fields = try call.fields()
    let anonymousID = try fields.endUserID("anonymous_id")
    let userID = try fields.endUserID("user_id")
    let claim = try Claim(anonymousID: anonymousID, userID: userID)
    let count = try call.analytics.claim(claim, in: try proof.key.liveApp().project, proof, call.database)
    return .json(.ok, ClaimReply(eventsReassignedCount: count))
}
