import Accounts
import Database
import HTTP
import Pages

/// `GET /account/apps/{client_id}/disconnect`: asks whether an application is to lose its access.
@Sendable func askToDisconnectApp(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    let apps = try call.database.read { try call.accounts.connectedApps(of: visitor.user.id, $0) }
    let isAskedFor = { (app: ShownApp) in app.clientID.utf8.elementsEqual(call.arguments[0].utf8) }
    guard let app = shownApps(apps).first(where: isAskedFor) else { return .account(.gone) }
    let page = AccountQuestionPage(
        .disconnect(app), about: ShownUser(visitor.user), form: call.accountForm(of: visitor))
    return .page(page, of: visitor, call)
}

/// `POST /account/apps/{client_id}/disconnect` (accounts §4.4).
@Sendable func disconnectOwnApp(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.changeAccount { transaction in
        try call.accounts.disconnectApp(call.arguments[0], by: visitor.caller, in: transaction)
        return .appDisconnected
    }
}
