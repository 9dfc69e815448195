import Accounts
import HTTP
import Pages

extension Call {
    /// Runs a rule for a form of the account's pages, and leads back to the account, which says what became of it. A
    /// refusal that a person can understand is said there, too; nothing has changed then.
    func changeAccount(_ rule: (AccountsTransaction) throws -> AccountPage.Notice) throws -> Response {
        do {
            return try commit { transaction in .account(try rule(transaction)) }
        } catch let failure as Failure {
            guard let notice = AccountPage.Notice(failure) else { throw failure }
            return .account(notice)
        }
    }
}

extension Response {
    /// To the account's page, with what it says there.
    static func account(_ notice: AccountPage.Notice) -> Response {
        .redirect(.seeOther, to: "/account?notice=\(notice.rawValue)")
    }
}

extension AccountPage.Notice {
    /// Nil for what nobody at a page brings about, or what has a page of its own.
    init?(_ failure: Failure) {
        switch failure {
        case .lastIdentity: self = .lastMethod
        case .identityNotConnected, .notConnected, .notFound: self = .gone
        case .anonymousRequester: self = .anonymous
        case .providerAlreadyConnected: self = .providerConnected
        case .identityOwnedByAnotherAccount: self = .ownedByAnother
        case .accountDeleted: self = .otherDeleted
        case .selfMergeForbidden: self = .alreadyYours
        case .accountTooLarge: self = .tooLarge
        case .identityDoesNotResolveToExistingAccount: self = .nobody
        default: return nil
        }
    }
}
