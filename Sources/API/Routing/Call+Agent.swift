import Accounts
import Database
import HTTP

/// How agents authenticate (accounts §4.1).
extension Credential<AgentCaller> {
    /// An agent's bearer token, with the signature of one that signs.
    static let agent = Credential(.agent) { call in
        guard let token = call.bearerToken() else { throw Failure.invalidToken }
        return try call.find { try call.accounts.authenticateAgent(token, call.agentRequest, $0) }
    }
}

extension Call {
    fileprivate var agentRequest: AgentRequest {
        AgentRequest(
            method: request.method.rawValue, target: request.target, body: body, address: request.remoteAddress,
            signature: agentSignature)
    }

    /// If one of the fields is repeated, it is not clear which one was signed.
    private var agentSignature: AgentSignature? {
        func only(_ name: String) -> String? {
            request.headers.count(of: name) == 1 ? request.headers.first(name) : nil
        }
        guard let timestamp = only("x-agent-timestamp"), let nonce = only("x-agent-nonce"),
            let signature = only("x-agent-signature")
        else { return nil }
        return AgentSignature(timestamp: timestamp, nonce: nonce, signature: signature)
    }

    /// Runs an agent's rule in one transaction, after its nonce is used up. A refusal is committed with that.
    ///
    /// - Parameter rule: refuses before it writes anything that a refused request must not write.
    func commit(as agent: AgentCaller, _ rule: (AccountsTransaction) throws -> Response) throws -> Response {
        try commit { transaction in
            do {
                try accounts.admit(agent, in: transaction)
                return try rule(transaction)
            } catch let failure as Failure {
                return surface.refusal(failure)
            }
        }
    }
}
