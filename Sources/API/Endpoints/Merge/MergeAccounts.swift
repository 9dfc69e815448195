import Accounts
import HTTP
import JSON

private struct MergeRequest: Decodable {
    @Exact var targetSessionToken: String?
    @Exact var otpCode: String?
    var targetUserID: Int64?
    var targetEmail: String?
    var dryRun: Bool?
}

private struct MergeReply: Encodable {
    var ok = true
    var identityLinkID: IdentityLink.ID
    var primaryUserID: User.ID
    var linkedUserID: User.ID
    var mergedVia: String

    init(_ link: IdentityLink) {
        identityLinkID = link.id
        primaryUserID = link.primary
        linkedUserID = link.linked
        mergedVia = link.method.rawValue
    }
}

private struct MergeDryRunReply: Encodable {
    struct Moves: Encodable {
        var identities: Int
        var grants: Int
        var devices: Int
        var agents: Int
        var agentApprovals: Int
        var notifications: Int
    }

    var dryRun = true
    var plan: String
    var moves: Moves

    init(_ preview: MergePreview) {
        plan = preview.plan
        let counts = preview.counts
        moves = Moves(
            identities: counts.identities, grants: counts.grants, devices: counts.devices, agents: counts.agents,
            agentApprovals: counts.agentApprovals, notifications: counts.notifications)
    }
}

/// `POST /api/v1/me/merge` (accounts §3.1): absorbs another account of the same person into the calling one, or shows with
/// `dry_run` what that would move.
@Sendable func mergeAccounts(_ call: Call, _ requester: IdentifiedCaller) throws -> Response {
    let body = try call.decode(MergeRequest.self)
    let merge = Merge(proof: try proof(body), precondition: call.planPrecondition)
    if body.dryRun == true {
        let preview = try call.database.snapshot { connection in
            try call.accounts.previewMerge(merge, by: requester.caller, connection)
        }
        return .preview(MergeDryRunReply(preview), plan: preview.plan)
    }
    return try call.commit { transaction in
        .json(.ok, MergeReply(try call.accounts.merge(merge, by: requester.caller, in: transaction)))
    }
}

private func proof(_ body: MergeRequest) throws -> Merge.Proof {
    switch (body.targetSessionToken, body.otpCode) {
    case (.some, .some): throw Failure.conflictingCredentials
    case (nil, nil): throw Failure.missingCredentials
    case (let token?, nil): return .sessionToken(token)
    case (nil, .some):
        if body.targetUserID == nil, body.targetEmail == nil { throw Failure.invalidRequest }
        // Nobody is sent a code, so that none is right.
        throw Failure.invalidOTP
    }
}
