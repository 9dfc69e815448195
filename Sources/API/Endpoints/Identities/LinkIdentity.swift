import Accounts
import ErrorCodes
import HTTP
import JSON

private struct LinkIdentityRequest: Decodable {
    var fullName: PersonName?
    @Exact var authorizationCode: String?
}

/// `POST /api/v1/me/connected_identities` (accounts §1.8): links an identity. An anonymous caller becomes an identified
/// user. If another account has the identity, the caller gets a ticket for the swap into it.
@Sendable func linkIdentity(_ call: Call, _ pak: PresentedPAK) throws -> Response {
    guard let provider = try call.decodeProviderIfPresent() else { throw Failure.unknownProvider }
    let body = try call.decode(LinkIdentityRequest.self)
    // Nobody who is not signed in has a code exchanged, so the caller is read before.
    if pak.caller == nil, call.exchanges(body.authorizationCode, of: provider) { throw UnconfirmedCaller() }
    let fullName = try checked(body.fullName)
    let anonymousID = try CarriedAnonymousID(call)
    let token = try call.verifyProof(from: provider)
    try call.exchangeAppleCode(body.authorizationCode, with: token)
    return try call.commit(keepsRefusals: true) { transaction in
        let (caller, outcome) = try call.accounts.linkIdentity(token, fullName: fullName, to: pak, in: transaction)
        switch outcome {
        case .linked(let user, let identities):
            let claims = try anonymousID.claim(for: user, on: transaction.device(of: caller), in: transaction)
            return .json(.ok, ConnectedIdentitiesReply(user, identities, claims: claims))
        case .ownedByAnotherAccount(nil): throw Failure.identityOwnedByAnotherAccount
        case .ownedByAnotherAccount(let ticket?):
            try anonymousID.keep(on: transaction.device(of: caller), in: transaction)
            return call.surface.refusal(
                ErrorReply(
                    error: .identityOwnedByAnotherAccount, swapTicket: ticket,
                    expiresIn: swapTicketLifetime.components.seconds))
        }
    }
}
