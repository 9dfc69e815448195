import Accounts
import Database
import HTTP
import Pages
import SignInClaims

/// `GET /account/link` (accounts §4.8): the providers that the account cannot be signed in to with yet.
@Sendable func chooseMethodToAdd(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    let identities = try call.database.read { try $0.identities(of: visitor.user.id) }
    let providers = call.providers(without: identities)
    if providers.isEmpty { return .account(.noOtherMethod) }
    return try call.choicesForTrip(.link, providers, of: visitor)
}

/// `GET /account/link/{provider}`: asks whether the identity that was proved is to be linked.
@Sendable func askToAddSignInMethod(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    guard let proof = try call.proof(of: .link, visitor) else { return .account(.tripGone) }
    switch try call.database.read({ try $0.owner(of: proof.token, for: visitor.caller) }) {
    case .nobody: break
    case .caller: return .account(.alreadyYours)
    case .another: return .account(.ownedByAnother)
    case .deleted: return .account(.otherDeleted)
    }
    let page = AccountQuestionPage(
        .addMethod(proof.shown), about: ShownUser(visitor.user),
        form: call.accountForm(of: visitor, query: proof.query))
    return .page(page, of: visitor, call)
}

/// `POST /account/link/{provider}` (accounts §1.8, §4.8).
@Sendable func addSignInMethod(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    return try call.changeAccount { transaction in
        guard let proof = try call.takeProof(of: .link, visitor, transaction) else { return .tripGone }
        let outcome = try call.accounts.linkIdentity(
            proof.token, fullName: proof.name, to: visitor.caller, in: transaction)
        switch outcome {
        case .linked(let user, _):
            try transaction.claimKept(by: user.id)
            return .methodAdded
        // Thrown, so that no ticket is issued that nobody gets.
        case .ownedByAnotherAccount: throw Failure.identityOwnedByAnotherAccount
        }
    }
}
