package import JSON
import MariaDB
import OpenSSL
package import Time

/// A request of an agent that its user approves or rejects (accounts §4.1).
package struct AgentApproval: Sendable {
    package typealias ID = Identifier<AgentApproval>

    package enum Status: String, Sendable, CaseIterable, Readable, Bindable {
        case pending, approved, rejected, expired, cancelled
    }

    /// How long an agent waits between two polls.
    package static let interval = Duration.seconds(2)
    /// How many an agent may have waiting …
    static let mostPending = 10
    /// … and all agents of a user together.
    static let mostPendingOfUser = 50
    /// How long an agent must not ask for an action again after it was rejected.
    static let coolDown = Duration.seconds(600)
    /// So many wrong numbers reject the request.
    static let mostTries = 3

    let id: ID
    package let user: User.ID
    /// `aar_…`
    package let publicID: String
    /// As the row has it; see `status(at:)`.
    private var storedStatus: Status
    let agent: Agent.ID
    package let actionType: String
    package let title: String
    package let body: String
    /// As the row has it. What people see is hashed again when they decide.
    package let displayPayloadHash: String
    package let createdAt: Timestamp
    package let expiresAt: Timestamp?
    package private(set) var decidedAt: Timestamp?
    let tries: Int
    let lastPolledAt: Timestamp?
    let history: HistoryEnd
    private let sealed: [UInt8]?

    static let columns: StaticString = """
        r.id, r.user_id, r.public_id, r.status, r.agent_id, r.action_type, r.title, r.body, r.display_payload_hash,
        r.created_at, r.expires_at, r.decided_at, r.tries, r.last_polled_at, r.history_length, r.history_digest,
        r.sealed_request
        """

    /// - Parameter row: `columns`, in their order.
    init(from row: inout Row) throws {
        id = try row.read()
        user = try row.read()
        publicID = try row.read()
        storedStatus = try row.read()
        agent = try row.read()
        actionType = try row.read()
        title = try row.read()
        body = try row.read()
        displayPayloadHash = try row.read()
        createdAt = try row.read()
        expiresAt = try row.read()
        decidedAt = try row.read()
        tries = try row.read()
        lastPolledAt = try row.read()
        history = HistoryEnd(length: try row.read(), digest: try row.read())
        sealed = try row.read()
    }

    /// Nobody has to have looked for a request to expire: the row says `pending` until clean-up comes.
    package func status(at now: Timestamp) -> Status {
        storedStatus == .pending && expiresAt.map { $0 <= now } == true ? .expired : storedStatus
    }

    /// The same after it ended.
    func ended(as status: Status, at time: Timestamp? = nil) -> AgentApproval {
        var approval = self
        approval.storedStatus = status
        approval.decidedAt = time
        return approval
    }

    /// How long the user may still decide; zero unless it is pending.
    package func rest(at now: Timestamp) -> Duration {
        status(at: now) == .pending ? expiresAt.map { $0 - now } ?? .zero : .zero
    }
}

/// What the server keeps sealed of a request.
struct SealedRequest: Codable {
    var context: KeptJSON
    /// Six digits, which the agent shows and the user types.
    var numberMatch: String

    func sealed(with serverKey: ServerKey, for publicID: String) -> [UInt8] {
        serverKey.seal(json(), for: AgentApproval.row(publicID))
    }
}

extension AgentApproval {
    /// What `sealed_request` is sealed for.
    static func row(_ publicID: String) -> [UInt8] { Array("agent_approval\n\(publicID)".utf8) }

    /// Nil for a row that never had one.
    ///
    /// - Throws: `OpenSSLError` if somebody changed it.
    func secrets(_ serverKey: ServerKey) throws -> SealedRequest? {
        try sealed.map { try SealedRequest(json: serverKey.open($0, for: Self.row(publicID))) }
    }

    /// An empty object for a row that never had any.
    package func context(_ serverKey: ServerKey) throws -> KeptJSON {
        try secrets(serverKey)?.context ?? KeptJSON(.object(JSONObject([])))
    }

    /// What people see, hashed from the rows as they are now.
    func computedHash(_ agent: ShownAgent, _ serverKey: ServerKey) throws -> String {
        DisplayPayload(
            actionType: actionType, agentName: agent.name, agentType: agent.kind.rawValue, body: body,
            context: try context(serverKey), title: title
        ).hash
    }
}

/// What people see of the agent that asks them.
package struct ShownAgent: Sendable {
    /// `agt_…`
    package let publicID: String
    package let name: String
    package let kind: Agent.Kind

    static let columns: StaticString = "a.public_id, a.name, a.agent_type"

    /// - Parameter row: `columns`, in their order.
    init(from row: inout Row) throws {
        publicID = try row.read()
        name = try row.read()
        kind = try row.read()
    }
}

extension AccountsTransaction {
    /// A request of an agent. It is locked until the transaction ends.
    func lockApproval(_ publicID: String, of agent: Agent.ID) throws -> AgentApproval? {
        guard publicID.isASCII else { return nil }
        return try connection.first(
            ComposedSQL(
                select: AgentApproval.columns,
                from: "agent_approvals r WHERE r.public_id = ? AND r.agent_id = ? FOR UPDATE", publicID, agent)
        ) { row in try AgentApproval(from: &row) }
    }

    /// A request to a user, who is locked.
    func lockApproval(_ publicID: String, of user: User.ID) throws -> AgentApproval? {
        guard publicID.isASCII else { return nil }
        return try connection.first(
            ComposedSQL(
                select: AgentApproval.columns,
                from: "agent_approvals r WHERE r.public_id = ? AND r.user_id = ? FOR UPDATE", publicID, user)
        ) { row in try AgentApproval(from: &row) }
    }
}
