import Accounts
import Database
import HTTP
import JSON

/// `GET /api/v1/me/agents` (accounts §4.1): those that are not revoked, newest first.
@Sendable func listAgents(_ call: Call, _ caller: Caller) throws -> Response {
    let agents = try call.database.read { try call.accounts.agents(of: caller.id, $0) }
    return .json(.ok, ["agents": agents.map { AgentReply($0) }])
}
