import Accounts
import HTTP
import JSON
import Text
import Time

private struct CreateAgentRequest: Decodable {
    @Exact var name: String?
    var type: String?
    var authMode: String?
    var publicKey: String?
    @Exact var allowedActionTypes: [String]?
    var allowedIPs: [String]?
}

/// An agent as its user sees it; its token is in one answer only.
struct AgentReply: Encodable {
    let id: String
    /// The bearer token, in the answer that creates the agent.
    let token: String?
    let name: String
    let type: String
    let authMode: String
    /// Base64.
    @Nullable var publicKey: String?
    let allowedActionTypes: [String]
    let allowedIPs: [String]
    let createdAt: String

    init(_ agent: Agent, token: Secret? = nil) {
        id = agent.publicID
        self.token = token?.text
        name = agent.name
        type = agent.kind.rawValue
        authMode = agent.authMode.rawValue
        publicKey = agent.publicKey.map(Base64.encode)
        allowedActionTypes = agent.allowedActionTypes
        allowedIPs = agent.allowedAddresses
        createdAt = agent.createdAt.iso8601
    }
}

/// `POST /api/v1/me/agents` (accounts §4.1).
@Sendable func createAgent(_ call: Call, _ caller: Caller) throws -> Response {
    let body = try call.decode(CreateAgentRequest.self)
    guard let name = body.name, let kind = body.type.flatMap(Agent.Kind.init(bytes:)),
        let mode = body.authMode.flatMap(Agent.AuthMode.init(bytes:))
    else { throw Failure.invalidRequest }
    let new = try NewAgent(
        name: name, kind: kind, authMode: mode, publicKey: body.publicKey,
        allowedActionTypes: body.allowedActionTypes ?? [], allowedAddresses: body.allowedIPs ?? [])
    return try call.commit { transaction in
        let (agent, token) = try call.accounts.createAgent(new, for: caller, in: transaction)
        return .json(.created, AgentReply(agent, token: token))
    }
}
