import Accounts
import HTTP

/// `DELETE /api/v1/me/agents/{id}` (accounts §4.1): 204. From then on the agent's token is refused.
@Sendable func revokeAgent(_ call: Call, _ caller: Caller) throws -> Response {
    try call.commit { transaction in
        try call.accounts.revokeAgent(call.arguments[0], by: caller, in: transaction)
        return Response(.noContent)
    }
}
