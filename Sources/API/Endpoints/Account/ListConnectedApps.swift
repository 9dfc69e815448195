import Accounts
import Database
import HTTP
import JSON
import Time

private struct ConnectedAppsReply: Encodable {
    struct App: Encodable {
        var clientID: String
        var name: String
        var scopes: [String]
        var grantedAt: String
        @Nullable var lastUsedAt: String?
    }

    var connectedApps: [App]
}

/// `GET /api/v1/me/connected_apps` (accounts §1.7): live grants, newest first, for anonymous callers too.
@Sendable func listConnectedApps(_ call: Call, _ caller: Caller) throws -> Response {
    let apps = try call.database.read { try call.accounts.connectedApps(of: caller.id, $0) }
    return .json(
        .ok,
        ConnectedAppsReply(
            connectedApps: apps.map { app in
                .init(
                    clientID: app.clientID, name: app.name, scopes: app.scopes, grantedAt: app.grantedAt.iso8601,
                    lastUsedAt: app.lastUsedAt?.iso8601)
            }))
}
