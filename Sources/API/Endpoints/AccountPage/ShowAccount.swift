import Accounts
import Database
import HTTP
import IdentityTokens
import Pages
import Text

/// `GET /account` (accounts §4.8): who is signed in, and what belongs to their account.
@Sendable func showAccount(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    let user = visitor.user.id
    let (identities, devices, apps) = try call.database.snapshot { connection in
        (
            try connection.identities(of: user), try connection.listedDevices(of: user),
            try call.accounts.connectedApps(of: user, connection)
        )
    }
    let methods = signInMethods(identities)
    let page = AccountPage(
        account: ShownUser(visitor.user), methods: methods,
        devices: devices.map(ShownDevice.init), apps: shownApps(apps),
        addsMethods: !call.providers(without: identities).isEmpty, isAnonymous: visitor.user.anonymous,
        notice: call.queryParameters.comparable("notice").flatMap(AccountPage.Notice.init(rawValue:)))
    return .page(page, of: visitor, call)
}

/// One for each provider: they are removed together.
func signInMethods(_ identities: [Identity]) -> [SignInMethod] {
    var methods: [SignInMethod] = []
    for identity in identities {
        if let index = methods.firstIndex(where: { $0.provider == identity.provider }) {
            methods[index].addresses += identity.email.map { [$0] } ?? []
        } else {
            methods.append(
                SignInMethod(
                    provider: identity.provider, addresses: identity.email.map { [$0] } ?? [], since: identity.linkedAt)
            )
        }
    }
    return methods
}

/// One for each application: of several grants, which a merge may leave, all are revoked together.
func shownApps(_ apps: [ConnectedApp]) -> [ShownApp] {
    var shown: [ShownApp] = []
    for app in apps {
        if let index = shown.firstIndex(where: { $0.clientID == app.clientID }) {
            shown[index].scopes += app.scopes.filter { !shown[index].scopes.contains($0) }
            shown[index].since = min(shown[index].since, app.grantedAt)
            shown[index].lastUsed = [shown[index].lastUsed, app.lastUsedAt].compactMap { $0 }.max()
        } else {
            shown.append(
                ShownApp(
                    clientID: app.clientID, name: app.name, scopes: app.scopes, since: app.grantedAt,
                    lastUsed: app.lastUsedAt))
        }
    }
    return shown
}

extension ShownDevice {
    init(_ device: ListedDevice) {
        self.init(
            id: device.id.rawValue, platform: device.platform, uuid: device.uuid, application: device.application,
            since: device.firstSeenAt, lastSeen: device.lastSeenAt)
    }
}

extension Call {
    /// The providers that a browser can sign in with and that an account has no identity of.
    func providers(without identities: [Identity]) -> [Provider] {
        webProviders.filter { provider in !identities.contains { $0.provider == provider.rawValue } }
    }
}
