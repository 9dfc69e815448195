import Accounts
import Database
import HTTP
import Pages

/// `GET /account/agents` (accounts §4.1, §4.8): the agents that are not revoked, newest first.
@Sendable func showOwnAgents(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    .page(AgentsPage(try call.ownAgents(visitor)), of: visitor, call)
}

/// `GET /account/agents/{id}/revoke`: asks whether an agent is to lose its access.
@Sendable func askToRevokeAgent(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    let isAskedFor = { (agent: AccountAgent) in agent.id.utf8.elementsEqual(call.arguments[0].utf8) }
    guard let agent = try call.ownAgents(visitor).first(where: isAskedFor) else { return .account(.gone) }
    let page = AccountQuestionPage(
        .revoke(agent), about: ShownUser(visitor.user), form: call.accountForm(of: visitor))
    return .page(page, of: visitor, call)
}

/// `POST /account/agents/{id}/revoke` (accounts §4.1).
@Sendable func revokeOwnAgent(_ call: Call, _ visitor: AccountVisitor) throws -> Response {
    try call.changeAccount { transaction in
        try call.accounts.revokeAgent(call.arguments[0], by: visitor.caller, in: transaction)
        return .agentRevoked
    }
}

extension Call {
    fileprivate func ownAgents(_ visitor: AccountVisitor) throws -> [AccountAgent] {
        try database.read { try accounts.agents(of: visitor.user.id, $0) }.map { agent in
            AccountAgent(
                id: agent.publicID, name: agent.name, kind: agent.kind.rawValue, actions: agent.allowedActionTypes,
                since: agent.createdAt)
        }
    }
}
