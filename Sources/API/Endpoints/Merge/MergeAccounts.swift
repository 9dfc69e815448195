import Accounts
import Database
import HTTP
import JSON
import SignInClaims

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

/// `POST /api/v1/me/merge` (accounts §3.1): absorbs another account into the calling one, or shows with
/// `dry_run` what that would move.
@Sendable func mergeAccounts(_ call: Call, _ requester: IdentifiedCaller) throws -> Response {
    let body = try call.decode(MergeRequest.self)
    let merge = Merge(proof: try proof(body), precondition: call.planPrecondition)
    if body.dryRun == true {
        let preview = try call.preview(merge, by: requester.caller)
        return .preview(MergeDryRunReply(preview), plan: preview.plan)
    }
    return try call.commit { transaction in
        switch try call.accounts.merge(merge, by: requester.caller, in: transaction) {
        case .success(let link):
            try transaction.uniteRecords(by: link)
            return .json(.ok, MergeReply(link))
        case .failure(let failure): return call.surface.refusal(failure)
        }
    }
}

private func proof(_ body: MergeRequest) throws -> Merge.Proof {
    switch (body.targetSessionToken, body.otpCode) {
    case (.some, .some): throw Failure.conflictingCredentials
    case (nil, nil): throw Failure.missingCredentials
    case (let token?, nil): return .sessionToken(token)
    case (nil, let code?):
        guard let target = try MergeTarget(id: body.targetUserID, email: body.targetEmail) else {
            throw Failure.invalidRequest
        }
        return .otp(code, target)
    }
}

extension Call {
    /// With a token, a dry run reads one snapshot and writes nothing. A wrong code counts as a try, so that a dry run with a
    /// code is a transaction; it is committed whatever Idempotency-Key the request carries.
    ///
    /// - Throws: `invalidOTP`, once the try is committed.
    fileprivate func preview(_ merge: Merge, by caller: Caller) throws -> MergePreview {
        switch merge.proof {
        case .sessionToken(let token):
            try database.snapshot { connection in
                try accounts.previewMerge(ofTokenBearer: token, merge.precondition, by: caller, connection)
            }
        case .otp:
            try Accounts.write(database, at: accounts.clock, from: origin) { transaction in
                try accounts.previewMerge(merge, by: caller, in: transaction)
            }.get()
        }
    }
}
