import Accounts
import HTTP

/// `DELETE /api/v1/me/connected_apps/{client_id}` (accounts §4.4): withdraws the caller's consent; 204.
@Sendable func disconnectApp(_ call: Call, _ caller: Caller) throws -> Response {
    try call.commit { transaction in
        try call.accounts.disconnectApp(call.arguments[0], by: caller, in: transaction)
        return Response(.noContent)
    }
}
