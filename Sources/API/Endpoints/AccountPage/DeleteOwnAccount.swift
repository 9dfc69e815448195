import Accounts
import HTTP
import Pages
import Time

/// `GET /account/delete`: asks whether the account is to be deleted.
@Sendable func askToDeleteAccount(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    return .page(call.deletionQuestion(visitor), of: visitor, call)
}

/// `POST /account/delete` (accounts §4.5, §4.8): only with the word that the page asks for. The browser is signed out.
@Sendable func deleteOwnAccount(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.requireRecentSignIn(of: visitor)
    guard DeleteAccountPage.isWord(try call.form.value("word") ?? "") else {
        return .page(call.deletionQuestion(visitor, isWrongWord: true), of: visitor, call)
    }
    return try call.commit { transaction in
        let deletion = try call.accounts.deleteAccount(of: visitor.caller, in: transaction)
        return .page(
            AccountDeletedPage(
                purgeAt: deletion.purgeAt, isRestorable: call.accounts.settings.restoresWithinGrace),
            in: call.language, headers: [call.clearing(.session)])
    }
}

extension Call {
    fileprivate func deletionQuestion(_ visitor: AccountVisitor, isWrongWord: Bool = false) -> DeleteAccountPage {
        DeleteAccountPage(
            ShownUser(visitor.user), purgeAt: accounts.clock.now + User.deletionGrace,
            isRestorable: accounts.settings.restoresWithinGrace, form: accountForm(of: visitor),
            isWrongWord: isWrongWord)
    }
}
