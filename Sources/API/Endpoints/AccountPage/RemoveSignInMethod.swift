import Accounts
import Database
import HTTP
import Pages

/// `GET /account/methods/{provider}/remove`: asks whether a way to sign in is to go. All identities of the provider do.
@Sendable func askToRemoveSignInMethod(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    let methods = signInMethods(try call.database.read { try $0.identities(of: visitor.user.id) })
    guard let method = methods.first(where: { $0.provider.utf8.elementsEqual(call.arguments[0].utf8) }) else {
        return .account(.gone)
    }
    if methods.count == 1 { return .account(.lastMethod) }
    let page = AccountQuestionPage(
        .removeMethod(method), about: ShownUser(visitor.user), form: call.accountForm(of: visitor))
    return .page(page, of: visitor, call)
}

/// `POST /account/methods/{provider}/remove` (accounts §1.8, §4.8).
@Sendable func removeSignInMethod(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    return try call.changeAccount { transaction in
        _ = try call.accounts.unlinkIdentities(of: call.arguments[0], from: visitor.caller, in: transaction)
        return .methodRemoved
    }
}
