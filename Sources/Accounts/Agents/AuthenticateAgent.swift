import Database
package import MariaDB
import OpenSSL
import Text
import Time

/// What an agent's request proves itself with, as it came.
package struct AgentRequest: Sendable {
    package var method: String
    /// Path and query as the agent wrote them.
    package var target: String
    package var body: [UInt8]
    /// Where the request came from.
    package var address: String
    /// `X-Agent-Timestamp`, `X-Agent-Nonce` and `X-Agent-Signature`; nil unless each came once.
    package var signature: AgentSignature?

    package init(method: String, target: String, body: [UInt8], address: String, signature: AgentSignature?) {
        self.method = method
        self.target = target
        self.body = body
        self.address = address
        self.signature = signature
    }
}

/// The header fields of a signed request.
package struct AgentSignature: Sendable {
    package var timestamp: String
    package var nonce: String
    package var signature: String

    package init(timestamp: String, nonce: String, signature: String) {
        self.timestamp = timestamp
        self.nonce = nonce
        self.signature = signature
    }

    /// How far the agent's clock may be from ours.
    static let tolerance = Duration.seconds(300)
    /// How long a nonce is remembered: as long as a request with it could be accepted, and longer, because the clocks of two
    /// instances may differ, or one may be set.
    static let nonceLifetime = tolerance * 2 + .clockSlack
    private static let shortestNonce = 32

    /// What the agent signs: six lines without a final line feed.
    func message(_ request: AgentRequest, by agent: Agent) -> [UInt8] {
        let lines = [
            request.method, request.target, timestamp, nonce, sha256(request.body).hexadecimal, agent.publicID,
        ]
        return Array(lines.joined(separator: "\n").utf8)
    }

    /// Whether the agent made this request lately. Its nonce may have been used before.
    func isValid(_ request: AgentRequest, by agent: Agent, at now: Timestamp) -> Bool {
        guard timestamp.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let time = Int64(timestamp),
            // Before 9999, so that milliseconds fit.
            time < 253_370_764_800, (now - Timestamp(seconds: time)).magnitude <= Self.tolerance,
            nonce.utf8.count >= Self.shortestNonce, nonce.utf8.allSatisfy({ $0.hexadecimalValue != nil }),
            let signature = Base64.decode(signature.utf8),
            let key = agent.publicKey.flatMap({ try? Ed25519PublicKey(registered: $0) })
        else { return false }
        return key.verify(signature, of: message(request, by: agent))
    }
}

/// The agent that sent a request, as the authenticating read saw it. Its nonce is yet to be used up (`admit`).
package struct AgentCaller: Sendable {
    package let agent: Agent
    /// Nil if the agent does not sign.
    let nonce: [UInt8]?
    let address: String
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }
}

extension Accounts {
    /// Reads the agent that a bearer token belongs to, with one indexed read, and checks the signature of one that signs.
    ///
    /// - Throws: `invalidToken` if the token is unknown, the agent revoked or its user deleted; `invalidSignature`.
    package func authenticateAgent(
        _ presented: String, _ request: AgentRequest, _ connection: Connection
    ) throws -> AgentCaller {
        let found = try connection.first(
            ComposedSQL(
                select: Agent.columns,
                from: """
                    agents a JOIN users u ON u.id = a.user_id
                    WHERE a.token_digest = ? AND a.revoked_at IS NULL AND u.deleted_at IS NULL
                    """, Secret(presented: presented).digest)
        ) { row in try Agent(from: &row) }
        guard let agent = found else { throw Failure.invalidToken }
        switch agent.authMode {
        case .bearerOnly: return AgentCaller(agent: agent, nonce: nil, address: request.address)
        case .signed:
            guard let signature = request.signature, signature.isValid(request, by: agent, at: clock.now) else {
                throw Failure.invalidSignature
            }
            return AgentCaller(agent: agent, nonce: sha256(signature.nonce.utf8), address: request.address)
        }
    }

    /// Lets an agent's request in, once. This comes first in its transaction, which has to be committed whatever becomes of
    /// the request: who repeats a request that was refused must not find it accepted later.
    ///
    /// - Throws: `nonceReplay`, `bearerOnlyDisabled`, `ipNotAllowed`, in this order.
    package func admit(_ caller: AgentCaller, in transaction: AccountsTransaction) throws {
        if let nonce = caller.nonce, try !transaction.use(nonce, of: caller.agent.id) { throw Failure.nonceReplay }
        if caller.agent.authMode == .bearerOnly && !settings.allowsBearerOnlyAgents { throw Failure.bearerOnlyDisabled }
        if !caller.agent.mayCall(from: caller.address) { throw Failure.ipNotAllowed }
    }
}

extension AccountsTransaction {
    /// - Returns: false if the agent used the nonce before. Of two that use it at once, on whatever instance, one waits here.
    fileprivate func use(_ nonce: [UInt8], of agent: Agent.ID) throws -> Bool {
        try connection.execute(
            """
            INSERT INTO agent_nonces (agent_id, digest, expires_at) VALUES (?, ?, ?)
            ON DUPLICATE KEY UPDATE expires_at = IF(expires_at < ?, VALUES(expires_at), expires_at)
            """, agent, nonce, now + AgentSignature.nonceLifetime, now
        ).affectedRows > 0
    }

    /// Locks the agent's user, then the agent, and reads the agent again.
    ///
    /// - Throws: `invalidToken` if the agent was revoked in the meantime.
    func lock(_ caller: AgentCaller) throws -> Agent {
        // Whoever merged or swapped since then has given the agent to another user.
        let owner = try connection.first("SELECT user_id FROM agents WHERE id = ?", caller.agent.id) { row in
            try row.read(User.ID.self)
        }
        guard let owner else { throw Failure.invalidToken }
        let users = try lockUsers(owner)
        let agent = try connection.first(
            ComposedSQL(
                select: Agent.columns, from: "agents a WHERE a.id = ? AND a.revoked_at IS NULL FOR UPDATE",
                caller.agent.id)
        ) { row in try Agent(from: &row) }
        guard let agent else { throw Failure.invalidToken }
        if agent.user != owner { throw TransactionMustRestart() }
        guard let user = users[owner], user.deletedAt == nil else { throw Failure.invalidToken }
        return agent
    }
}
