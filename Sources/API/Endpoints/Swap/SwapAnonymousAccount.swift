import Accounts
import Database
import HTTP
import IdentityTokens
import JSON
import SignInClaims

private struct SwapRequest: Decodable {
    struct MergeOptions: Decodable {
        var rps: [String]?
        var agentApprovals: Bool?
        var notifications: Bool?
    }

    var provider: String?
    var identityToken: String?
    var rawNonce: String?
    @Exact var swapTicket: String?
    @Exact var authorizationCode: String?
    var fullName: PersonName?
    var mergeOptions: MergeOptions?
    var deviceUUID: String?
    var platform: String?
    var dryRun: Bool?
}

/// The member that makes `provider` optional.
private struct TicketMember: Decodable {
    var swapTicket: String?
}

private struct DryRunReply: Encodable {
    struct RP: Encodable {
        var clientID: String
        var name: String
        var fate: String
    }

    var dryRun = true
    var plan: String
    var user: UserReply
    var merged: MergedReply
    var rps: [RP]

    init(_ preview: SwapPreview) {
        plan = preview.plan
        user = UserReply(preview.survivor)
        merged = MergedReply(preview.counts)
        rps = preview.grants.map { RP(clientID: $0.clientID, name: $0.name, fate: $0.fate.wireName) }
    }
}

/// `POST /api/v1/me/anonymous_swap` (accounts §1.9): moves the calling anonymous account into the account that holds
/// the identity. With `dry_run` it shows what that would do.
@Sendable func swapAnonymousAccount(_ call: Call, _ anonymous: AnonymousCaller) throws -> Response {
    let provider = try call.decodeProviderIfPresent()
    if provider == nil, try call.decode(TicketMember.self).swapTicket == nil { throw Failure.unknownProvider }
    let body = try call.decode(SwapRequest.self)
    let fullName = try checked(body.fullName)
    let anonymousID = try CarriedAnonymousID(call)
    let options = body.mergeOptions
    let swap = Swap(
        proof: try proof(body, provider, call), fullName: fullName,
        selection: SwapSelection(
            clientIDs: options?.rps, agentApprovals: options?.agentApprovals ?? true,
            notifications: options?.notifications ?? true),
        precondition: call.planPrecondition,
        deviceUUID: body.deviceUUID, platform: body.platform)

    if body.dryRun == true {
        let preview = try call.database.snapshot { connection in
            try call.accounts.previewSwap(swap, by: anonymous.caller, connection)
        }
        return .preview(DryRunReply(preview), plan: preview.plan)
    }
    return try call.commit { transaction in
        switch try call.accounts.swap(swap, by: anonymous.caller, in: transaction) {
        case .success(let (signedIn, counts)):
            var claims: [AccountClaimReply]?
            try transaction.uniteRecords(
                of: anonymous.caller.id, into: signedIn.user.id, carrying: anonymousID.id
            ) { _ in
                claims = try anonymousID.claim(for: signedIn.user, on: signedIn.device, in: transaction)
            }
            return .json(.ok, DeviceBootstrapReply(signedIn, merged: counts, claims: claims))
        case .failure(let failure): return call.surface.refusal(failure)
        }
    }
}

/// - Throws: `invalidRequest` if the body has both kinds of proof, or neither in full.
private func proof(_ body: SwapRequest, _ provider: Provider?, _ call: Call) throws -> Swap.Proof {
    if let ticket = body.swapTicket {
        if body.identityToken != nil || body.rawNonce != nil { throw Failure.invalidRequest }
        return .ticket(ticket, provider)
    }
    guard let provider else { throw Failure.unknownProvider }
    let token = try call.verifyProof(from: provider)
    // A code works once, so a dry run leaves it alone.
    if body.dryRun != true { try call.exchangeAppleCode(body.authorizationCode, with: token) }
    return .token(token)
}

extension SwapPlan.Fate {
    /// The value of `rps[].fate`.
    fileprivate var wireName: String {
        switch self {
        case .moved: "transferred"
        case .duplicate: "skipped_duplicate"
        case .dropped: "dropped"
        }
    }
}
